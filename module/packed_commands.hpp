#pragma once

#include "module/api.hpp"

/// The commands of clients that hash: packed digests in, packed verdicts out. doc/module.md has their
/// grammar.
///
/// An argument of digests holds 16 bytes a key: the low word, then the high one, little-endian; one of
/// offsets a byte a key: how many slices behind `slice` its own is; none: all are of that. The answer is a
/// character a key, the digits of the verdicts (3: no room), for fewer keys where the rest is to be asked
/// again; or a refusal of all keys, which begins with a letter:
///
///     S stale  M no state  C<what> damaged  D<slice>.<layer> segment  O old
namespace everseen::redis_module {

/// EVERSEEN.ADD state token epoch slice sequence life digests [offsets]
int add_digests(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.CHECK state epoch slice digests
int check_digests(module_api::context* ctx, module_api::string** words, int count);

}  // namespace everseen::redis_module
