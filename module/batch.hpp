#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "everseen/core/digest.hpp"
#include "everseen/core/partition_keys.hpp"
#include "everseen/core/verdict.hpp"
#include "everseen/core/window.hpp"

#include "module/record.hpp"

namespace everseen::redis_module {

/// Keys of a call: at most some 2 ms, where each key is a cache miss.
inline constexpr std::size_t most_keys = 65'536;

/// What a command may still do beside judging, over all partitions: so none holds up the server for long.
struct allowance {
  explicit allowance(api::context* ctx);

  /// While the server has a child, keys go in portions, each of which may copy as many pages of memory, and
  /// no further portion begins when the time is over: a page takes 2 µs, where memory is short 30.
  [[nodiscard]] bool is_over() const { return portion < most_keys && api::milliseconds() >= ends_at; }
  std::size_t portion = most_keys;
  long long ends_at = 0;

  std::uint64_t zeroed_bytes = partition_keys::growth_step_bytes;  ///< of new segments: about 1 ms
  std::size_t replicated_bits = 32'768;  ///< told to followers one by one: about 10 ms
};

/// Keys of one partition.
struct batch {
  window::slice_index slice = window::timeless;   ///< of all, if `slices` is empty
  std::span<const window::slice_index> slices{};  ///< of each, where they may differ
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

/// How far a batch came.
struct progress {
  std::size_t keys = 0;                 ///< so many, from the first on, have their verdict
  std::optional<refusal> stopped_by{};  ///< why not all of them
};

/// Judges the keys and adds the fresh ones: bits, counts, and as many segments as are needed and allowed.
///
/// Keys of several slices are judged in one go as far as their slices are there and have room for them, as
/// that changes no verdict (core/slice_groups.hpp). The first key that needs a segment is judged with those
/// behind it that share its slice.
/// What was added stays added, whatever stops the rest: the caller must be told of it.
/// @param state  key of the partition's state    @param r  what it holds    @param left  reduced
/// @param judged  called when so many keys have their verdict, before anybody is told of their bits
/// @pre a window has a time for the slice (slices.hpp)
using judged_so_far = std::function<void(std::size_t keys)>;
[[nodiscard]] progress add(api::context* ctx, api::string* state, record r, const batch& b, allowance& left,
                           const judged_so_far& judged = {});

/// Judges the keys and changes nothing.
/// @return why none was judged; nothing if all were    @pre as add()
[[nodiscard]] std::optional<refusal> check(api::context* ctx, api::string* state, const record& r,
                                           const batch& b);

}  // namespace everseen::redis_module
