#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/core/spec/spec.hpp"

// Siblings are filters with the same spec, secret seed included. A key has the same bits in each of them, so
// the bits of two, together, are those of a filter that was given the keys of both.
namespace everseen {

/// A segment of a sibling, with its bits.
struct sibling_segment {
  segment_id id;
  layer_state layer;
  std::span<const std::byte> bits;
};

/// @throws parameter_error  they are no siblings: names what differs. Who judges need not be the same.
void must_be_siblings(const spec& one, const spec& other);

/// What segments of one id have together. Keys of several count once, as far as the bits show: a filter that
/// is merged with a copy of itself has not grown.
struct segment_union {
  double keys = 0;              ///< estimated from the union of the bits; infinite if all are set
  double deviation = 0;         ///< of that estimate
  std::uint64_t least = 0;      ///< the greatest of their counts
  std::uint64_t sum = 0;        ///< of their counts; the largest number if it is more
  bool is_one_of_them = false;  ///< one has all bits: nothing is added to it

  /// Whether a segment that holds this many keys within its error rate does so with all of them. The bits
  /// decide, as the rate follows from them, unless the counts alone say that there is room, or all of them
  /// are in a segment that is within the rate already.
  [[nodiscard]] bool fits(std::uint64_t capacity) const noexcept;
  /// The count of the union: the estimate and its deviation, since what is added later must not exceed the
  /// rate, either. At least that of the fullest segment; at most the sum, unless the bits contradict it. That
  /// of the fullest segment if it has all.
  [[nodiscard]] std::uint64_t count() const noexcept;
};

/// @param same  segments of one id and shape; at least one    Cost: their bits are counted twice.
[[nodiscard]] segment_union union_of(std::span<const sibling_segment> same);

}  // namespace everseen
