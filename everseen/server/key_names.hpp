#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace everseen::server {

/// The filter that a key of the Redis protocol stands for.
///
/// A key may hold any bytes, a filter's name only some. A key that is a valid name stands for the filter of
/// that name, so that programs and the shell mean the same one. Of any other key, or one that begins with
/// "esc.", the filter's name is "esc." and the key, each byte but letters, digits, _ and - as a dot and two
/// hexadecimal digits: `user:42` is kept as `esc.user.3a42`. No two keys share a name.
/// @return empty  the key is too long: its name would exceed 100 bytes
[[nodiscard]] std::optional<std::string> filter_name_of(std::string_view key);

/// The same.    @throws parameter_error  the key is too long
[[nodiscard]] std::string required_name_of(std::string_view key);

/// The key that stands for a filter: the inverse.
/// @return empty  no key does; its name begins with "esc." and was not made by filter_name_of
[[nodiscard]] std::optional<std::string> key_of(std::string_view filter_name);

}  // namespace everseen::server
