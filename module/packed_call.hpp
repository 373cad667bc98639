#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "module/batch.hpp"
#include "module/record.hpp"
#include "module/refusal.hpp"

namespace everseen::redis_module {

// What all commands that take packed digests have in common.

/// A call about digests of one partition. It lives in memory that the next call uses.
struct question {
  api::string* state;
  std::uint64_t epoch;
  window::slice_index slice;
  std::span<const window::slice_index> slices;  ///< of each digest; empty: all are of `slice`
  std::span<const digest> digests;
  std::span<verdict> out;

  [[nodiscard]] batch keys() const { return {slice, slices, digests, out}; }
};

/// @throws bad_word  a word is not what it must be
/// @param offsets  null, or a byte a digest: how many slices behind `slice`; none: all are of that
[[nodiscard]] question read(api::string* state, api::string* epoch, api::string* slice, api::string* digests,
                            api::string* offsets = nullptr);

/// The record, if the caller may go by it.    @throws bad_word  a slice is none of this filter's
[[nodiscard]] judged<record> look_at(api::context* ctx, const question& q);

/// A character a verdict; valid until the next call.
[[nodiscard]] std::string_view write(std::span<const verdict> verdicts);

/// Answers why nothing was judged.
int reply(api::context* ctx, const refusal& r);

}  // namespace everseen::redis_module
