#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/window.hpp"

#include "module/partition/record.hpp"

namespace everseen::redis_module {

/// Maximum keys of a call: at most about 2 ms if each key is a cache miss.
inline constexpr std::size_t most_keys = 65'536;

/// Limits of a command besides judging, over all partitions, so that no command blocks the server for long.
struct allowance {
  explicit allowance(api::context* ctx);

  /// While the server has a child process, keys are judged in portions. A portion may copy as many pages of
  /// memory as it has keys, at 2 µs a page, or 30 µs when memory is short. No further portion starts after
  /// the time limit.
  [[nodiscard]] bool is_over() const { return portion < most_keys && api::milliseconds() >= deadline; }
  std::size_t portion = most_keys;
  long long deadline = 0;

  std::uint64_t zeroed_bytes = partition_keys::growth_step_bytes;  ///< for new segments: about 1 ms
  std::size_t replicated_bits = 32'768;                            ///< replicated one by one: about 10 ms
};

/// Keys of one partition.
struct batch {
  window::slice_index slice = window::timeless;   ///< of all keys, if `slices` is empty
  std::span<const window::slice_index> slices{};  ///< of each key, if they may differ
  std::span<const digest> digests;
  std::span<verdict> out;  ///< as many as digests; `unknown`: no room

  [[nodiscard]] window::slice_index slice_of(std::size_t key) const noexcept {
    return slices.empty() ? slice : slices[key];
  }
  [[nodiscard]] bool has_keys_of(window::slice_index one) const noexcept {
    return slices.empty() ? slice == one : std::ranges::find(slices, one) != slices.end();
  }
  [[nodiscard]] batch part(std::size_t from, std::size_t count) const noexcept {
    return {slice, slices.empty() ? slices : slices.subspan(from, count), digests.subspan(from, count),
            out.subspan(from, count)};
  }
};

/// The progress of a batch.
struct progress {
  std::size_t keys = 0;                 ///< length of the prefix that has verdicts
  std::optional<refusal> stopped_by{};  ///< why the others have none
};

/// Judges the keys and adds the fresh ones: bits, counts, and as many segments as needed and allowed.
///
/// Keys of several slices are judged in one pass as far as their slices exist and have room, which changes no
/// verdict (core/partition/slice_groups.hpp). The first key that needs a segment is judged together with the
/// following keys of its slice. Added keys stay added, whatever stops the rest, so the caller must be
/// informed of them.
/// @param state  key of the partition's state    @param r  its content    @param left  reduced
/// @param judged  called with the number of judged keys, before their bits are replicated
/// @pre with a window, the slice contains a time (slices.hpp)
using judged_so_far = std::function<void(std::size_t keys)>;
[[nodiscard]] progress add(api::context* ctx, api::string* state, record r, const batch& b, allowance& left,
                           const judged_so_far& judged = {});

/// Judges the keys and changes nothing.
/// @return why no key was judged; nothing if all were    @pre as add()
[[nodiscard]] std::optional<refusal> check(api::context* ctx, api::string* state, const record& r,
                                           const batch& b);

}  // namespace everseen::redis_module
