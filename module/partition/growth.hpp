#pragma once

#include <cstdint>

#include "module/partition/record.hpp"
#include "module/partition/strings.hpp"

namespace everseen::redis_module {

/// Creates the segment that a partition needs, with the same commands as clients without the module, which
/// are also replicated.
///
///     lengthen, step by step ──> publish: a new epoch and its manifest; expired segments are removed
///
/// @param budget  bytes that may still be zeroed; reduced. If it is too small, the segment stays unpublished
///   until the next call, with a time limit, as a client's does.
/// @return whether it is published
[[nodiscard]] judged<bool> grow(api::context* ctx, api::string* state, const record& r,
                                const segment_needed& needed, std::uint64_t& budget);

}  // namespace everseen::redis_module
