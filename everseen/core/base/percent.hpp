#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Bytes in addresses and file names, where only some bytes may stand: the others are % and two digits.
namespace everseen {

/// @param plain  bytes that stay as they are, besides letters, digits and . _ -
[[nodiscard]] std::string percent_encoded(std::string_view bytes, std::string_view plain = {});

/// The inverse.    @return nothing  a % is not followed by two hexadecimal digits
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace everseen
