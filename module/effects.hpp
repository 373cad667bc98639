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
/// Where keys have lines, by SETRANGE of those; lines that lie side by side go in one command, and so do
/// those that are closer than a command is long. Where they have none, by one BITFIELD a key, as scripts do:
/// its bits lie anywhere, and a command for each would cost more.
/// Cost: about 0.6 µs for each line that got a new key, 0.3 µs for each bit of a key without one.
/// @param verdicts  of the digests; those that are fresh changed the segment
/// @return how many bits were told one by one; 0 where keys have lines
std::size_t replicate(api::context* ctx, api::string* segment, const std::byte* bytes, const geometry& shape,
                      std::span<const digest> digests, std::span<const verdict> verdicts);

}  // namespace everseen::redis_module
