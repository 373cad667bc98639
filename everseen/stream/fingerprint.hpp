#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace everseen {

/// At most so many bytes of a file tell it from others.
inline constexpr std::size_t max_fingerprinted = 4096;

/// How many bytes and their hash, as in 4096:0123456789abcdef.
[[nodiscard]] std::string fingerprint(std::string_view bytes);

/// Bytes that a fingerprint is of.
/// @param name  what it is the fingerprint of, for the message    @throws format_error  it is none
[[nodiscard]] std::size_t fingerprinted_bytes(std::string_view print, std::string_view name);

}  // namespace everseen
