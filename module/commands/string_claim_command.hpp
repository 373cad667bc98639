#pragma once

#include "module/server/values.hpp"

namespace everseen::redis_module {

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
int claim_events(api::context* ctx, api::string** words, int count);

}  // namespace everseen::redis_module
