#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace everseen::server {

/// The name of the filter for a key of the Redis protocol.
///
/// A key may contain any bytes, a filter's name only some. A key that is a valid name maps to itself, so
/// that programs and the shell mean the same filter. Any other key, or one that begins with "esc.", maps to
/// "esc." and the key, in which each byte but letters, digits, _ and - is a dot and two hexadecimal digits:
/// `user:42` becomes `esc.user.3a42`. No two keys share a name.
/// @return empty  the key is too long: its name would exceed 100 bytes
[[nodiscard]] std::optional<std::string> filter_name_of(std::string_view key);

/// The same.    @throws parameter_error  the key is too long
[[nodiscard]] std::string required_name_of(std::string_view key);

/// The key of a filter: the inverse.
/// @return empty  no key maps to it: its name begins with "esc." and was not made by filter_name_of
[[nodiscard]] std::optional<std::string> key_of(std::string_view filter_name);

}  // namespace everseen::server
