#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Percent-encoding for addresses and file names: a byte that is not allowed there becomes % and two
/// hexadecimal digits.
namespace everseen {

/// @param plain  bytes that stay as they are, besides letters, digits and . _ -
[[nodiscard]] std::string percent_encoded(std::string_view bytes, std::string_view plain = {});

/// The inverse.    @return nothing if a % is not followed by two hexadecimal digits
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace everseen
