#pragma once

#include <span>
#include <string>
#include <string_view>

namespace everseen::redis {

/// A Lua script and the hash by which a server knows it.
struct script {
  std::string text;
  std::string sha1;  ///< 40 hexadecimal digits
};

/// The command that calls a script by its hash.
[[nodiscard]] std::string encode_call(const script& s, std::span<const std::string> keys,
                                      std::span<const std::string> arguments);

/// The same commands, but the first call of the script by its hash becomes a call by its text. From then on
/// the server knows the script.
/// @param wire  from encode_call() and encode()
[[nodiscard]] std::string with_text(std::string_view wire, const script& s);

}  // namespace everseen::redis
