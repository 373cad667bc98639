#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "everseen/server/base/command.hpp"

namespace everseen::server {

namespace {

constexpr char capital(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::vector<command> gather() {
  std::vector<command> all;
  for (const auto family :
       {bloom_commands(), everseen_commands(), key_commands(), listing_commands(), expiry_commands(),
        connection_commands(), transaction_commands(), server_commands()})
    all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(), [](const command& a, const command& b) { return a.name < b.name; });
  return all;
}

constexpr std::size_t longest_name = 32;

}  // namespace

std::span<const command> all_commands() {
  static const std::vector<command> all = gather();
  return all;
}

const command* find_command(std::string_view name) {
  std::array<char, longest_name> capitals{};
  if (name.size() > capitals.size()) return nullptr;
  std::transform(name.begin(), name.end(), capitals.begin(), capital);
  const std::string_view wanted(capitals.data(), name.size());
  const auto all = all_commands();
  const auto found = std::lower_bound(all.begin(), all.end(), wanted,
                                      [](const command& c, std::string_view n) { return c.name < n; });
  return found != all.end() && found->name == wanted ? &*found : nullptr;
}

bool is_word(std::string_view word, std::string_view capitals) noexcept {
  return std::equal(word.begin(), word.end(), capitals.begin(), capitals.end(),
                    [](char a, char b) { return capital(a) == b; });
}

refusal wrong_arity(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return {"ERR wrong number of arguments for '" + lower + "' command"};
}

refusal syntax_error() {
  return {"ERR syntax error"};
}

}  // namespace everseen::server
