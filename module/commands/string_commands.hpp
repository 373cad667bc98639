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

}  // namespace everseen::redis_module
