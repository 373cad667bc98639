#include "everseen/redis/wire/command.hpp"

#include <array>
#include <charconv>

#include "everseen/core/base/assert.hpp"

namespace everseen::redis {

namespace {

/// Reads the number of a line like "$12\r\n" or "*3\r\n" and skips the line.
std::size_t take_count(std::string_view& rest, [[maybe_unused]] char mark) {
  EVERSEEN_ASSERT(!rest.empty() && rest.front() == mark);
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), count);
  EVERSEEN_ASSERT(error == std::errc());
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 2);
  return count;
}

void append_count(std::string& wire, char mark, std::size_t count) {
  std::array<char, 24> line;
  line[0] = mark;
  char* const end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, count).ptr;
  end[0] = '\r';
  end[1] = '\n';
  wire.append(line.data(), end + 2);
}

}  // namespace

void begin_command(std::string& wire, std::size_t words) {
  append_count(wire, '*', words);
}

void begin_word(std::string& wire, std::size_t bytes) {
  append_count(wire, '$', bytes);
}

void end_word(std::string& wire) {
  wire += "\r\n";
}

void append_word(std::string& wire, std::string_view word) {
  begin_word(wire, word.size());
  wire += word;
  end_word(wire);
}

void append_command(std::string& wire, std::span<const std::string_view> words) {
  constexpr std::size_t most_around_a_word = 16;  // its length in up to ten digits, and line ends
  std::size_t bytes = wire.size() + most_around_a_word;
  for (const std::string_view word : words) bytes += word.size() + most_around_a_word;
  wire.reserve(bytes);
  begin_command(wire, words.size());
  for (const std::string_view word : words) append_word(wire, word);
}

std::string encode(std::span<const std::string_view> words) {
  std::string wire;
  append_command(wire, words);
  return wire;
}

std::string encode(std::initializer_list<std::string_view> words) {
  return encode(std::span(words.begin(), words.size()));
}

std::vector<std::string_view> split_commands(std::string_view wire) {
  std::vector<std::string_view> commands;
  while (!wire.empty()) {
    std::string_view rest = wire;
    for (std::size_t words = take_count(rest, '*'); words > 0; --words) {
      const std::size_t bytes = take_count(rest, '$');
      rest.remove_prefix(bytes + 2);
    }
    commands.push_back(wire.substr(0, wire.size() - rest.size()));
    wire = rest;
  }
  return commands;
}

}  // namespace everseen::redis
