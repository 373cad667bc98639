#pragma once

#include <cstdint>

#include "module/record.hpp"
#include "module/strings.hpp"

namespace everseen::redis_module {

/// Makes the segment that a partition needs, by the commands that clients without the module send, so that
/// replicas and the AOF get these.
///
///     lengthen, step by step ──> publish: a new epoch and its manifest; expired segments go
///
/// @param budget  bytes that may be zeroed yet; reduced. Where it does not suffice, the segment waits for the
///                next call, with a time limit, as a client's unpublished one does.
/// @return whether it is published
[[nodiscard]] judged<bool> grow(api::context* ctx, api::string* state, const record& r,
                                const segment_needed& needed, std::uint64_t& budget);

}  // namespace everseen::redis_module
