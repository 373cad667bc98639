#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"

/// COMMAND: the table of commands for programs. Clients ask it where the keys of a request are.
namespace everseen::serve {

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
