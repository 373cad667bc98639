#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace everseen {

/// The most bytes of a file that its fingerprint covers.
inline constexpr std::size_t max_fingerprinted = 4096;

/// The number of bytes and their hash, as in 4096:0123456789abcdef.
[[nodiscard]] std::string fingerprint(std::string_view bytes);

/// The number of bytes that a fingerprint covers.
/// @param name  of the fingerprinted input, for the message    @throws format_error  `print` is not a
///         fingerprint
[[nodiscard]] std::size_t fingerprinted_bytes(std::string_view print, std::string_view name);

}  // namespace everseen
