#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "everseen/core/format/announced_filter.hpp"

/// Where the chunks of a filter belong among its segments: doc/format.md, "Chunks".
///
/// The iterator of a chunk is 1 + the bytes of bits of all chunks up to and including itself.
namespace everseen::image {

struct chunk_place {
  std::size_t segment = 0;   ///< index in the announced ones
  std::uint64_t offset = 0;  ///< of the first byte in it
};

/// Each dump of a filter is the same copy: its chunks are asked for one by one, by anybody.
[[nodiscard]] copy_id copy_of(const spec& s);

/// Where the chunk after an iterator begins.    @return nothing  there is none
[[nodiscard]] std::optional<chunk_place> place_after(std::span<const announced_filter::segment> segments,
                                                     std::int64_t iterator) noexcept;

/// Where the chunk of an iterator begins.
/// @param bytes  of bits in it    @throws format_error  it is in no segment, or reaches over the end of one
[[nodiscard]] chunk_place place_of_chunk(std::span<const announced_filter::segment> segments,
                                         std::int64_t iterator, std::uint64_t bytes);

}  // namespace everseen::image
