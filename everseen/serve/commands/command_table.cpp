#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::serve {

namespace {

constexpr char capital(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::vector<command> gather() {
  std::vector<command> all;
  for (const auto family :
       {bloom_commands(), everseen_commands(), store_commands(), key_commands(), expiry_commands(),
        connection_commands(), transaction_commands(), server_commands(), command_commands()})
    all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(), [](const command& a, const command& b) { return a.name < b.name; });
  return all;
}

constexpr std::size_t longest_name = 32;
constexpr std::size_t longest_shown = 128;

/// The second word of a subcommand's name.
std::string_view second_word(const command& c) noexcept {
  return c.name.substr(c.name.find('|') + 1);
}

const command* find_subcommand(const command& described, std::string_view word) noexcept {
  const auto found = std::find_if(described.subcommands.begin(), described.subcommands.end(),
                                  [&](const command& each) { return is_word(word, second_word(each)); });
  return found != described.subcommands.end() ? &*found : nullptr;
}

/// In the words of Redis, which clients know; by the rest, clients of everseen recognise this server.
refusal unknown_command(word_list request) {
  std::string text =
      fmt::format("ERR unknown command '{}', with args beginning with:", request[0].substr(0, longest_shown));
  for (const std::string_view word : request.subspan(1)) {
    const std::size_t room = longest_shown - std::min(longest_shown, text.size());
    if (room == 0) break;
    text += fmt::format(" '{}'", word.substr(0, room));
  }
  return {text + std::string(wire::unknown_here)};
}

refusal unknown_subcommand(std::string_view word) {
  return {fmt::format("ERR unknown subcommand '{}'.", word.substr(0, longest_shown))};
}

}  // namespace

std::span<const command> all_commands() {
  static const std::vector<command> all = gather();
  return all;
}

const command* find_command(std::string_view name) {
  if (const auto bar = name.find('|'); bar != std::string_view::npos) {
    const command* const described = find_command(name.substr(0, bar));
    return described != nullptr ? find_subcommand(*described, name.substr(bar + 1)) : nullptr;
  }
  std::array<char, longest_name> capitals{};
  if (name.size() > capitals.size()) return nullptr;
  std::transform(name.begin(), name.end(), capitals.begin(), capital);
  const std::string_view wanted(capitals.data(), name.size());
  const auto all = all_commands();
  const auto found = std::lower_bound(all.begin(), all.end(), wanted,
                                      [](const command& c, std::string_view n) { return c.name < n; });
  return found != all.end() && found->name == wanted ? &*found : nullptr;
}

const command& command_of(word_list request) {
  const bool is_full_name = request[0].find('|') != std::string_view::npos;
  const command* const entry = is_full_name ? nullptr : find_command(request[0]);
  if (entry == nullptr) throw unknown_command(request);
  if (entry->subcommands.empty() || request.size() == 1) return *entry;
  if (const command* const part = find_subcommand(*entry, request[1])) return *part;
  throw unknown_subcommand(request[1]);
}

bool is_word(std::string_view word, std::string_view capitals) noexcept {
  return std::equal(word.begin(), word.end(), capitals.begin(), capitals.end(),
                    [](char a, char b) { return capital(a) == b; });
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

refusal wrong_arity(std::string_view name) {
  return {"ERR wrong number of arguments for '" + lower(name) + "' command"};
}

refusal syntax_error() {
  return {"ERR syntax error"};
}

// COMMAND: the table for programs. Clients ask it where the keys of a request are.

namespace {

/// A name of six bytes may ask for kilobytes.
constexpr std::size_t most_names = 512;

std::vector<std::string_view> flags_of(const command& c) {
  std::vector<std::string_view> flags;
  if (c.keys.first != 0) flags.push_back(c.needs == right::write ? "write" : "readonly");
  if (c.needs == right::admin) flags.push_back("admin");
  if (c.needs == right::nothing) flags.push_back("no_auth");
  if (c.batched != nullptr || c.place == runs::at_once) flags.push_back("fast");
  return flags;
}

void write_entry(wire::reply_writer& reply, const command& c) {
  reply.array(10);
  reply.bulk(lower(c.name));
  reply.integer(c.arity);
  const auto flags = flags_of(c);
  reply.set(flags.size());
  for (const std::string_view flag : flags) reply.status(flag);
  reply.integer(c.keys.first);
  reply.integer(c.keys.last);
  reply.integer(c.keys.step);
  reply.set(0);    // categories: rights are options of the server
  reply.array(0);  // tips
  reply.array(0);  // key specifications
  reply.array(c.subcommands.size());
  for (const command& part : c.subcommands) write_entry(reply, part);
}

void describe_all(call& c) {
  c.reply.array(all_commands().size());
  for (const command& each : all_commands()) write_entry(c.reply, each);
}

/// COMMAND INFO [name ...]
void describe(call& c) {
  const word_list names = c.words.subspan(2);
  if (names.empty()) return describe_all(c);
  if (names.size() > most_names)
    throw refusal{fmt::format("ERR one request describes at most {} commands", most_names)};
  c.reply.array(names.size());
  for (const std::string_view name : names) {
    if (const command* const found = find_command(name))
      write_entry(c.reply, *found);
    else
      c.reply.null();
  }
}

void count(call& c) {
  c.reply.integer(static_cast<std::int64_t>(all_commands().size()));
}

}  // namespace

std::span<const command> command_commands() {
  static constexpr command subcommands[] = {
      {"COMMAND|COUNT", 2, right::read, runs::at_once, no_keys, count},
      {"COMMAND|INFO", -2, right::read, runs::at_once, no_keys, describe},
  };
  static constexpr command commands[] = {
      {"COMMAND", -1, right::read, runs::at_once, no_keys, describe_all, nullptr, false, subcommands},
  };
  return commands;
}

}  // namespace everseen::serve
