/// everseen's own chunks of a filter: a header, then pieces of bits, each with a trailer: doc/format.md,
/// "Chunks".

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// What a filter contains, from its making or its last emptying on: the number that its header and its chunks
/// share. So chunks of a filter and of what it was before do not mix.
enum class content_id : std::uint64_t {};

/// A filter as the header of its chunks announces it: everything but the bits.
struct announced_filter {
  everseen::spec spec;
  struct segment {
    segment_id id;
    layer_state layer;
  };
  std::vector<segment> segments{};  ///< ascending by id
  content_id content{};
  /// Whose segments these are, if they are of one partition alone; 0 for a whole filter.
  std::uint32_t partition = 0;
  /// The id of the generation that replaces this one, which accepts no more keys.
  std::optional<std::array<std::uint8_t, 16>> successor{};
  bool is_redisbloom = false;  ///< its chunks hold only bits, in RedisBloom's order

  [[nodiscard]] std::uint64_t bit_bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const segment& s : segments) sum += s.layer.shape.bytes;
    return sum;
  }
};

/// The segments of a partition, as a header has them.
[[nodiscard]] std::vector<announced_filter::segment> segments_of(std::uint32_t partition,
                                                                 const std::vector<slice_state>& slices);
/// The state of the partition whose segments these are.
/// @throws format_error  one is of another partition, or a layer is missing
[[nodiscard]] partition_state state_of(const announced_filter& f);

}  // namespace everseen

namespace everseen::image {

inline constexpr std::size_t chunk_trailer_bytes = 6 * 8;
/// The bits of one chunk. With its trailer it is no longer than an argument of a request may be.
inline constexpr std::size_t max_chunk_bits_bytes = (std::size_t{16} << 20) - 4096;

[[nodiscard]] std::vector<std::byte> encode_chunk_header(const announced_filter& f);
/// Whether the bytes begin like such a header.
[[nodiscard]] bool is_chunk_header(std::span<const std::byte> bytes) noexcept;
/// @throws format_error  it is damaged    @throws parameter_error  as decode_manifest
/// @pre is_chunk_header(header)
[[nodiscard]] announced_filter decode_chunk_header(std::span<const std::byte> header);

/// Completes a chunk with a trailer: the content, the segment of the bits, their offset in it, and its
/// current number of keys. The trailer reveals that a filter was emptied or grew while it was copied.
void append_chunk_trailer(std::vector<std::byte>& bits, content_id content,
                          const announced_filter::segment& source, std::uint64_t offset);

/// A chunk of bits, read by itself.
struct chunk_bits {
  content_id content{};
  segment_id id;
  std::uint64_t offset = 0;  ///< of the first byte in the segment
  std::uint64_t keys = 0;    ///< of the segment when the chunk was made
  std::span<const std::byte> bits;
};
/// @throws format_error  the chunk is damaged
[[nodiscard]] chunk_bits decode_chunk(std::span<const std::byte> chunk);
/// @return the bits    @throws format_error  the chunk is damaged, or holds other bits
[[nodiscard]] std::span<const std::byte> without_chunk_trailer(std::span<const std::byte> chunk,
                                                               content_id content,
                                                               const announced_filter::segment& source,
                                                               std::uint64_t offset);

/// Where the chunks of a filter belong among its segments: doc/format.md, "Chunks".
///
/// The iterator of a chunk is 1 + the bytes of bits of all chunks up to and including itself.

struct chunk_place {
  std::size_t segment = 0;   ///< index in the announced ones
  std::uint64_t offset = 0;  ///< of the first byte in it
};

/// Each dump of a filter has the same one: its chunks are asked for one by one, by anybody.
[[nodiscard]] content_id dumped_content(const spec& s);

/// Where the chunk after an iterator begins.    @return nothing  there is none
[[nodiscard]] std::optional<chunk_place> place_after(std::span<const announced_filter::segment> segments,
                                                     std::int64_t iterator) noexcept;

/// Where the chunk of an iterator begins.
/// @param bytes  of bits in it    @throws format_error  it is in no segment, or reaches over the end of one
[[nodiscard]] chunk_place place_of_chunk(std::span<const announced_filter::segment> segments,
                                         std::int64_t iterator, std::uint64_t bytes);

}  // namespace everseen::image
