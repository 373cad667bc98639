/// The parts of a URL. Functions with a parameter `name` throw parameter_error, with that name and without
/// the value, which may be secret.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::url_text {

/// Always at least one part; parts may be empty.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Whether it has only letters, digits and _.
[[nodiscard]] bool is_word(std::string_view text);

/// Replaces %XX by the byte.
[[nodiscard]] std::string decode(std::string_view name, std::string_view text);
/// The same, for a value that must not be empty or have a zero byte.
[[nodiscard]] std::string filled(std::string_view name, std::string_view text);
/// Replaces each byte that could have a meaning in a URL by %XX.
[[nodiscard]] std::string encode(std::string_view text);

/// Which of two words it is.
[[nodiscard]] bool is_second(std::string_view name, std::string_view text, std::string_view first,
                             std::string_view second);
/// A count, as core/base/quantity reads it.
[[nodiscard]] std::uint64_t to_number(std::string_view name, std::string_view text, std::uint64_t most);
/// A duration of at most a day, as core/base/quantity reads it.
[[nodiscard]] std::chrono::milliseconds to_duration(std::string_view name, std::string_view text,
                                                    std::chrono::milliseconds least = {});

[[nodiscard]] std::string to_host(std::string_view text);
[[nodiscard]] std::string to_ipv6(std::string_view text);

}  // namespace everseen::url_text

namespace everseen {

/// Percent-encoding for addresses and file names: a byte that is not allowed there becomes % and two
/// hexadecimal digits.

/// @param plain  bytes that stay as they are, besides letters, digits and . _ -
[[nodiscard]] std::string percent_encoded(std::string_view bytes, std::string_view plain = {});

/// The inverse.    @return nothing if a % is not followed by two hexadecimal digits
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace everseen
