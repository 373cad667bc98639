#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace everseen {

/// How a Guava filter converts an object to the bytes that it hashes; here, how a key given as text is
/// converted. The values are stored in specs. everseen's own filters hash the key as it is.
enum class funnel_kind : std::uint8_t {
  bytes = 0,  ///< the unchanged key: byteArrayFunnel, and stringFunnel(UTF_8)
  chars = 1,  ///< unencodedCharsFunnel: the UTF-8 key as UTF-16, little-endian
  int32 = 2,  ///< integerFunnel: a decimal number as 4 bytes, little-endian
  int64 = 3,  ///< longFunnel: a decimal number as 8 bytes, little-endian
};

[[nodiscard]] std::string_view to_string(funnel_kind kind) noexcept;
/// @param name  as returned by to_string; or a stringFunnel: "string" and "string:utf-8" mean bytes,
///   "string:utf-16le" means chars
[[nodiscard]] std::optional<funnel_kind> parse_funnel_kind(std::string_view name) noexcept;

/// Writes the bytes that are hashed for a key to `into`.
/// @return false if the funnel cannot take the key: it is not UTF-8, not a number, or too large for the type;
///   `into` is then unspecified
/// Cost: 5 to 20 ns for a short key. Threads: any.
[[nodiscard]] bool try_funnel(funnel_kind kind, std::string_view key, std::string& into);

/// Why a funnel cannot take a key, for example "the key 'x7' is not a whole number of 64 bits".
/// @pre try_funnel(how, key, ...) returned false
[[nodiscard]] std::string funnel_refusal(funnel_kind kind, std::string_view key);

/// try_funnel for a single key.    @throws parameter_error  funnel_refusal(how, key)
void apply_funnel(funnel_kind kind, std::string_view key, std::string& into);

}  // namespace everseen
