#pragma once

#include "module/server/api.hpp"

/// The commands for clients that hash: packed digests in, packed verdicts out. Grammar: doc/module.md.
///
/// The digests argument has 16 bytes per key: the low word, then the high word, little-endian. The offsets
/// argument has one byte per key: its slice minus `slice`; empty: all are in `slice`. The reply has one
/// character per key, the digit of its verdict (3: no room). If it is shorter, the rest must be sent again.
/// Or it is a refusal of all keys, which starts with a letter:
///
///     S stale  M no state  C<what> damaged  D<slice>.<layer> segment  O old
namespace everseen::redis_module {

/// EVERSEEN.ADD state token epoch slice sequence life digests [offsets]
int add_digests(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.CHECK state epoch slice digests
int check_digests(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.CLAIM state records job lane head forgotten-bytes epoch slice digests offsets positions
///                counters-an-event places [name ...]
///
/// The step of a job (doc/format.md, "Jobs"): judges the digests of its events, adds the fresh ones,
/// increments their counters, and stores this in the record of their lane. Everything up to the last judged
/// event is atomic. `head` is the start of the record, empty if there is none; the first `forgotten-bytes` of
/// the record are removed. `job`: its id. `positions`: 8 bytes per event, big-endian, ascending. `places`: 4
/// bytes per counter of an event, big-endian: an index into the names that follow.
///
/// Replies with one character per event up to the last one judged: 0 fresh, 1 seen, 2 late; 3: no room, and
/// no later event was judged. `P`: the record has another head. `J`: the state does not have the job, which
/// has ended. Other replies as EVERSEEN.ADD.
int claim_events(module_api::context* ctx, module_api::string** words, int count);

}  // namespace everseen::redis_module
