#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "everseen/core/digest.hpp"
#include "everseen/core/verdict.hpp"
#include "everseen/core/window.hpp"

#include "module/record.hpp"

namespace everseen::redis_module {

/// Keys of a call: at most some 2 ms, where each key is a cache miss.
inline constexpr std::size_t most_keys = 65'536;

/// Keys of one slice of one partition.
struct batch {
  window::slice_index slice = window::timeless;
  std::span<const digest> digests;
  std::span<verdict> out;  ///< as many as digests; `unknown`: no room
};

/// Judges the keys and adds the fresh ones: bits, counts, and as many segments as are needed and can be made
/// in a call that is to take no more than milliseconds.
///
/// @param state  key of the partition's state    @param r  what it holds
/// @return how many keys, from the first on, have their verdict: fewer than all where a segment is not made
///         yet. Ask again about the rest: each call makes some more of it.
[[nodiscard]] judged<std::size_t> add(api::context* ctx, api::string* state, record r, const batch& b);

/// Judges the keys and changes nothing.
[[nodiscard]] judged<std::size_t> check(api::context* ctx, api::string* state, const record& r,
                                        const batch& b);

}  // namespace everseen::redis_module
