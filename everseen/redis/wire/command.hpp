#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::redis {

/// Encodes a command for the wire (hiredis's formatter).
[[nodiscard]] std::string encode(std::span<const std::string_view> words);
[[nodiscard]] std::string encode(std::initializer_list<std::string_view> words);

/// The single commands of a sequence of them.
/// @pre wire consists of whole commands, from encode()
[[nodiscard]] std::vector<std::string_view> split_commands(std::string_view wire);

}  // namespace everseen::redis
