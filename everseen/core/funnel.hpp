#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace everseen {

/// What a filter of Guava hashes of an object: how a key, which comes as text as at a shell, becomes the
/// bytes that the hash sees. The values are stored in specs; everseen's own filters hash the key as it is.
enum class funnel_kind : std::uint8_t {
  bytes = 0,  ///< the key as it is: byteArrayFunnel, and stringFunnel(UTF_8)
  chars = 1,  ///< unencodedCharsFunnel: the key, UTF-8, in UTF-16, the low byte of each unit first
  int32 = 2,  ///< integerFunnel: a decimal number in 4 bytes, the low one first
  int64 = 3,  ///< longFunnel: a decimal number in 8 bytes, the low one first
};

[[nodiscard]] std::string_view to_string(funnel_kind how) noexcept;
/// @param name  as to_string gives it, or "string", which is another word for bytes
[[nodiscard]] std::optional<funnel_kind> parse_funnel_kind(std::string_view name) noexcept;

/// The bytes that are hashed for a key, written to `into`.
/// @return false, and nothing that counts in `into`, where the funnel cannot take the key: it is not UTF-8,
///         not a number, or one too large for the type
/// Cost: 5 to 20 ns for a short key. Threads: any.
[[nodiscard]] bool try_funnel(funnel_kind how, std::string_view key, std::string& into);

/// Why a funnel cannot take a key, as in "the key 'x7' is not a whole number of 64 bits".
/// @pre try_funnel(how, key, ...) gave false
[[nodiscard]] std::string funnel_refusal(funnel_kind how, std::string_view key);

/// As try_funnel, for one key on its own.    @throws parameter_error  funnel_refusal(how, key)
void apply_funnel(funnel_kind how, std::string_view key, std::string& into);

}  // namespace everseen
