#include "everseen/server/commands/command_docs.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "everseen/server/commands/glob.hpp"

namespace everseen::server {

namespace {

constexpr std::string_view categories[] = {"keyspace", "read",  "write",     "bloom",      "fast",
                                           "slow",     "admin", "dangerous", "connection", "transaction"};

/// Every command, a subcommand after its command.
std::vector<const command*> with_subcommands() {
  std::vector<const command*> all;
  for (const command& each : all_commands()) {
    all.push_back(&each);
    for (const command& part : each.subcommands) all.push_back(&part);
  }
  return all;
}

/// A name of six bytes may ask for kilobytes.
constexpr std::size_t most_names = 512;

/// The commands of these names; null for unknown ones.    @throws refusal  too many names
std::vector<const command*> named(word_list names) {
  if (names.size() > most_names)
    throw refusal{fmt::format("ERR one request describes at most {} commands", most_names)};
  std::vector<const command*> found;
  for (const std::string_view name : names) found.push_back(find_command(name));
  if (names.empty())
    for (const command& each : all_commands()) found.push_back(&each);
  return found;
}

std::vector<std::string_view> flags_of(const command& c) {
  std::vector<std::string_view> flags;
  if (c.keys.first != 0) flags.push_back(c.needs == right::write ? "write" : "readonly");
  if (c.needs == right::admin) flags.push_back("admin");
  if (c.needs == right::nothing) flags.push_back("no_auth");
  if (belongs_to(c, "fast")) flags.push_back("fast");
  return flags;
}

void write_entry(wire::reply_writer& to, const command& c) {
  to.array(10);
  to.bulk(lower(c.name));
  to.integer(c.arity);
  const auto flags = flags_of(c);
  to.set(flags.size());
  for (const std::string_view flag : flags) to.status(flag);
  to.integer(c.keys.first);
  to.integer(c.keys.last);
  to.integer(c.keys.step);
  std::vector<std::string> belongs;
  for (const std::string_view category : categories)
    if (belongs_to(c, category)) belongs.push_back("@" + std::string(category));
  to.set(belongs.size());
  for (const std::string& category : belongs) to.status(category);
  to.array(0);  // tips
  to.array(0);  // key specifications
  to.array(c.subcommands.size());
  for (const command& part : c.subcommands) write_entry(to, part);
}

void write_entries(call& c, word_list names) {
  const auto found = named(names);
  c.reply.array(found.size());
  for (const command* each : found) {
    if (each == nullptr)
      c.reply.null();
    else
      write_entry(c.reply, *each);
  }
}

void describe_all(call& c) {
  write_entries(c, {});
}

void describe(call& c) {
  write_entries(c, c.words.subspan(2));
}

void write_docs(wire::reply_writer& to, const command& c) {
  to.bulk(lower(c.name));
  to.map(c.subcommands.empty() ? 3 : 4);
  to.bulk("summary");
  to.bulk(c.summary);
  to.bulk("group");
  to.bulk(c.group);
  to.bulk("syntax");
  to.bulk(c.usage);
  if (c.subcommands.empty()) return;
  to.bulk("subcommands");
  to.map(c.subcommands.size());
  for (const command& part : c.subcommands) write_docs(to, part);
}

void document(call& c) {
  auto found = named(c.words.subspan(2));
  std::erase(found, nullptr);
  c.reply.map(found.size());
  for (const command* each : found) write_docs(c.reply, *each);
}

void count(call& c) {
  c.reply.integer(static_cast<std::int64_t>(all_commands().size()));
}

/// COMMAND GETKEYS command [word ...]
void get_keys(call& c) {
  const word_list request = c.words.subspan(2);
  const command* what = nullptr;
  try {
    what = &command_of(request);
  } catch (const refusal&) {
    throw refusal{"ERR Invalid command specified"};
  }
  if (what->keys.first == 0) throw refusal{"ERR The command has no key arguments"};
  if (!what->takes(request.size())) throw refusal{"ERR Invalid number of arguments specified for command"};
  const std::vector<std::size_t> keys = key_positions_of(*what, request.size());
  c.reply.array(keys.size());
  for (const std::size_t at : keys) c.reply.bulk(request[at]);
}

/// COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern]
void command_list(call& c) {
  const word_list filter = c.words.subspan(2);
  const auto by = [&](std::string_view kind) {
    return filter.size() == 3 && is_word(filter[0], "FILTERBY") && is_word(filter[1], kind);
  };
  if (!filter.empty() && !by("MODULE") && !by("ACLCAT") && !by("PATTERN")) throw syntax_error();
  std::vector<std::string> names;
  for (const command* each : with_subcommands()) {
    std::string name = lower(each->name);
    const bool fits = filter.empty()  ? true
                      : by("MODULE")  ? false
                      : by("PATTERN") ? matches(lower(filter[2]), name)
                                      : belongs_to(*each, lower(filter[2]));
    if (fits) names.push_back(std::move(name));
  }
  c.reply.array(names.size());
  for (const std::string& name : names) c.reply.bulk(name);
}

}  // namespace

std::vector<std::string_view> all_categories() {
  return {std::begin(categories), std::end(categories)};
}

bool belongs_to(const command& c, std::string_view category) {
  const bool is_fast = c.batched != nullptr || c.place == runs::at_once;
  if (category == "keyspace") return c.group == "generic";
  if (category == "read") return c.keys.first != 0 && c.needs == right::read;
  if (category == "write") return c.needs == right::write;
  if (category == "bloom") return c.group == "bloom" || c.group == "everseen";
  if (category == "fast") return is_fast;
  if (category == "slow") return !is_fast;
  if (category == "admin" || category == "dangerous") return c.needs == right::admin;
  if (category == "connection") return c.group == "connection";
  return category == "transaction" && c.group == "transactions";
}

std::vector<std::string_view> commands_of(std::string_view category) {
  std::vector<std::string_view> names;
  for (const command* each : with_subcommands())
    if (belongs_to(*each, category)) names.push_back(each->name);
  return names;
}

std::span<const command> command_commands() {
  static constexpr command subcommands[] = {
      {"COMMAND|COUNT", 2, right::read, runs::at_once, no_keys, "server", "Returns the number of commands",
       "", count},
      {"COMMAND|DOCS", -2, right::read, runs::at_once, no_keys, "server", "Describes commands for people",
       "[name ...]", document},
      {"COMMAND|GETKEYS", -4, right::read, runs::at_once, no_keys, "server", "Returns the keys of a request",
       "command argument [argument ...]", get_keys},
      {"COMMAND|HELP", 2, right::read, runs::at_once, no_keys, "server", "Returns this list", "", write_help},
      {"COMMAND|INFO", -2, right::read, runs::at_once, no_keys, "server", "Describes commands for programs",
       "[name ...]", describe},
      {"COMMAND|LIST", -2, right::read, runs::at_once, no_keys, "server", "Returns the names of commands",
       "[FILTERBY MODULE name | ACLCAT category | PATTERN pattern]", command_list},
  };
  static constexpr command commands[] = {
      {"COMMAND", -1, right::read, runs::at_once, no_keys, "server", "Describes the commands", "[subcommand]",
       describe_all, nullptr, false, false, false, subcommands},
  };
  return commands;
}

}  // namespace everseen::server
