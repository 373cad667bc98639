#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace everseen::compat::guava {

/// What Guava hashes of an object. Keys come as text, as at a shell.
enum class funnel : std::uint8_t {
  bytes,  ///< the key as it is: byteArrayFunnel, and stringFunnel(UTF_8)
  chars,  ///< unencodedCharsFunnel: the key, UTF-8, in UTF-16, the low byte of each unit first
  int32,  ///< integerFunnel: a decimal number in 4 bytes, the low one first
  int64,  ///< longFunnel: a decimal number in 8 bytes, the low one first
};

[[nodiscard]] std::string_view to_string(funnel how) noexcept;
[[nodiscard]] std::optional<funnel> parse_funnel(std::string_view name) noexcept;

/// The bytes that are hashed for a key, written to `into`.
/// @throws parameter_error  the key is not UTF-8, not a number, or a number too large for the type
void apply(funnel how, std::string_view key, std::string& into);

}  // namespace everseen::compat::guava
