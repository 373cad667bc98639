#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// One copy of a filter: the number that its header and its chunks share. Chunks of two copies do not mix.
enum class copy_id : std::uint64_t {};

/// A filter as the header of its chunks announces it: everything but the bits.
struct announced_filter {
  everseen::spec spec;
  struct segment {
    segment_id id;
    layer_state layer;
  };
  std::vector<segment> segments{};  ///< ascending by id
  copy_id copy{};
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

}  // namespace everseen
