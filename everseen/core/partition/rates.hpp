#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// What layers hold together.
struct layer_sum {
  std::uint64_t keys = 0;
  std::uint64_t room = 0;  ///< the keys for which they were made
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;

  void add(const layer_state& layer) noexcept {
    keys += layer.keys;
    room += layer.capacity;
    bytes += layer.shape.bytes;
    ++segments;
  }
  void add(const partition_state& state) noexcept {
    for (const slice_state& slice : state.slices)
      for (const layer_state& layer : slice.layers) add(layer);
  }
  [[nodiscard]] double fill() const noexcept {
    return room == 0 ? 0 : static_cast<double>(keys) / static_cast<double>(room);
  }
};

/// How many keys the overfilled layers of a partition were given, by the bits that are set.
///
/// A layer counts keys that were fresh. How many others it was given, which it called seen by mistake,
/// follows from that count if each key was judged after the one before it (sizing::keys_from_counted). Keys
/// of one batch may be judged together; then fewer were called seen, and the bits tell. In a layer that is
/// not overfilled the difference is negligible.
class given_keys {
 public:
  /// None are known: the counts decide.
  given_keys() = default;
  /// @param are_estimates  the counts of the state are estimates of the keys that were given, by their bits
  explicit given_keys(bool are_estimates) noexcept : are_estimates_(are_estimates) {}

  /// Whether a layer is overfilled, so that its bits would tell more than its count.
  [[nodiscard]] static bool needs_bits(const partition_state& state) noexcept;
  /// Counts the bits of a layer if it is overfilled.
  void count(const segment_id& id, const layer_state& layer, std::span<const std::byte> bits);

  /// Of a layer.
  [[nodiscard]] double of(const slice_state& slice, std::size_t layer) const;
  /// Whether its bits were counted.
  [[nodiscard]] bool is_known(const slice_state& slice, std::size_t layer) const;

 private:
  std::map<std::pair<window::slice_index, std::size_t>, double> by_bits_;
  bool are_estimates_ = false;  // what a state has, for every layer
};

/// The same for one layer and its bits, which are counted if it is overfilled.
[[nodiscard]] double given_keys_of(const layer_state& layer, std::span<const std::byte> bits) noexcept;

/// Probability that a key never added to this partition is called seen now: one minus the product, over the
/// segments, of the probability of no false positive.
[[nodiscard]] double error_rate_now(const spec& s, const partition_state& state,
                                    const given_keys& given = {});

/// Expected number of fresh keys of this partition that were called seen. For each layer: the integral of its
/// own rate while it filled, or, where its bits were counted, the keys that it was given and did not count;
/// plus the rates of the segments completed before it. With a window this is an upper bound, since slices are
/// taken as complete.
[[nodiscard]] double expected_false_seen(const partition_state& state, const given_keys& given = {});

}  // namespace everseen
