#include "everseen/redis/wire/command.hpp"

#include <charconv>
#include <memory>
#include <new>

#include <hiredis/hiredis.h>

#include "everseen/core/assert.hpp"

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

}  // namespace

std::string encode(std::span<const std::string_view> words) {
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  starts.reserve(words.size());
  sizes.reserve(words.size());
  for (const std::string_view word : words) {
    starts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* wire = nullptr;
  const int bytes =
      redisFormatCommandArgv(&wire, static_cast<int>(words.size()), starts.data(), sizes.data());
  if (bytes < 0) throw std::bad_alloc();
  const std::unique_ptr<char, void (*)(void*)> owner(
      wire, [](void* p) { redisFreeCommand(static_cast<char*>(p)); });
  return {wire, static_cast<std::size_t>(bytes)};
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
