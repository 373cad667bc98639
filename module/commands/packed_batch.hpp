#pragma once

#include <span>
#include <string_view>

#include "everseen/core/base/verdict.hpp"

#include "module/server/values.hpp"
#include "module/value/filter_value.hpp"

/// Batches as fast clients send them: one argument of digests, one string of verdicts. An argument of a
/// command for each key would cost the server more than judging it.
namespace everseen::redis_module {

inline constexpr std::size_t most_digests = 65'536;

/// The keys of a call: 16 bytes per digest, the low word first, both little-endian. Valid until the next
/// call, which uses the same memory again.
/// @param offsets  null or empty: all keys are in `slice`
/// @throws bad_word  an argument is invalid
[[nodiscard]] slice_batch read_packed(const api::string* slice, const api::string* digests,
                                      const api::string* offsets);

/// Checks that the value can have keys of these slices, and, unless the call repeats a decision, that none is
/// further ahead of the server's clock than one slice, or a minute: such a key would make those of today
/// late.
/// @throws bad_word
void must_fit_window(api::context* ctx, const spec& s, const slice_batch& keys);

/// A character per verdict: 0 fresh, 1 seen, 2 late, 3 no room. Valid until the next call.
[[nodiscard]] std::string_view packed(std::span<const verdict> verdicts);

}  // namespace everseen::redis_module
