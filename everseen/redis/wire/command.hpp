#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/redis_keys.hpp"

namespace everseen::redis {

/// Appends a command to a wire.
void append_command(std::string& wire, std::span<const std::string_view> words);

/// The same piece by piece, so that a long word can be generated in place: begin_command with the number of
/// words, then each word; for a long word first its length, then its bytes, which the caller appends, then
/// end_word.
void begin_command(std::string& wire, std::size_t words);
void append_word(std::string& wire, std::string_view word);
void begin_word(std::string& wire, std::size_t bytes);
void end_word(std::string& wire);

/// A command as a wire of its own.
[[nodiscard]] std::string encode(std::span<const std::string_view> words);
[[nodiscard]] std::string encode(std::initializer_list<std::string_view> words);

/// The single commands of a sequence of them.
/// @pre wire consists of whole commands, from encode()
[[nodiscard]] std::vector<std::string_view> split_commands(std::string_view wire);

/// 32 random hexadecimal digits: unique.
[[nodiscard]] inline std::string random_name() {
  return filter_names::to_text(image::random_filter_id());
}

}  // namespace everseen::redis
