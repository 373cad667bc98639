#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::redis {

/// Puts a command behind what a wire holds already.
void append_command(std::string& wire, std::span<const std::string_view> words);

/// The same piece by piece, for a long word that is made where it is sent from: how many words follow; each
/// word; of a long one its length, then its bytes, which the caller appends, then end_word.
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

}  // namespace everseen::redis
