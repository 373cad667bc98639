#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "module/partition/batch.hpp"
#include "module/partition/record.hpp"
#include "module/partition/refusal.hpp"

namespace everseen::redis_module {

// Shared by all commands that take packed digests.

/// A call about digests of one partition. Its memory is reused by the next call.
struct question {
  api::string* state;
  std::uint64_t epoch;
  window::slice_index slice;
  std::span<const window::slice_index> slices;  ///< per digest; empty: all are in `slice`
  std::span<const digest> digests;
  std::span<verdict> out;

  [[nodiscard]] batch keys() const { return {slice, slices, digests, out}; }
};

/// @throws bad_word  an argument is invalid
/// @param offsets  null, or one byte per digest: its slice minus `slice`; empty: all are in `slice`
[[nodiscard]] question read(api::string* state, api::string* epoch, api::string* slice, api::string* digests,
                            api::string* offsets = nullptr);

/// The record, if the caller's epoch is current.    @throws bad_word  a slice is invalid for this filter
[[nodiscard]] judged<record> look_at(api::context* ctx, const question& q);

/// One character per verdict; valid until the next call.
[[nodiscard]] std::string_view write(std::span<const verdict> verdicts);

/// Replies why nothing was judged.
int reply(api::context* ctx, const refusal& r);

}  // namespace everseen::redis_module
