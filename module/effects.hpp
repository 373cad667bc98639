#pragma once

#include <cstddef>
#include <span>

#include "everseen/core/digest.hpp"
#include "everseen/core/layout.hpp"
#include "everseen/core/verdict.hpp"

#include "module/values.hpp"

namespace everseen::redis_module {

/// Tells replicas and the AOF what a segment got, by commands that need no module: so whoever follows gets
/// the same bytes.
///
/// By SETRANGE of the lines that got a key, or of the bytes where keys have no lines; those that lie side by
/// side go in one command, and so do those that are closer than a command is long. Where bits lie too far
/// apart for that, by one BITFIELD a key, as scripts do.
/// Cost: about 0.6 µs for each line; 0.35 µs for each bit without one, less the closer they lie
/// (doc/measurements.md, "The Redis module").
/// @param verdicts  of the digests; those that are fresh changed the segment
/// @return how many bits without a line
std::size_t replicate(api::context* ctx, api::string* segment, const std::byte* bytes, const geometry& shape,
                      std::span<const digest> digests, std::span<const verdict> verdicts);

}  // namespace everseen::redis_module
