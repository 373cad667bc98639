#pragma once

#include <span>
#include <string>
#include <string_view>

namespace everseen::redis {

/// A Lua script and the name under which a server keeps it.
struct script {
  std::string text;
  std::string sha1;  ///< 40 hexadecimal digits
};

/// The command that calls a script by its name.
[[nodiscard]] std::string encode_call(const script& s, std::span<const std::string> keys,
                                      std::span<const std::string> arguments);

/// The same commands, of which the first that calls a script by its name calls it by its text. So the server
/// knows it from then on.
/// @param wire  from encode_call() and encode()
[[nodiscard]] std::string with_text(std::string_view wire, const script& s);

}  // namespace everseen::redis
