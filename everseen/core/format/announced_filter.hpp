#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
