#include "everseen/server/commands/command_docs.hpp"

#include <vector>

namespace everseen::server {

namespace {

/// The commands of these names; null for unknown ones.
std::vector<const command*> named(word_list names) {
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
  if (c.batched != nullptr) flags.push_back("fast");
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
  to.set(0);    // ACL categories
  to.array(0);  // tips
  to.array(0);  // key specifications
  to.array(0);  // subcommands
}

}  // namespace

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void write_table(wire::reply_writer& to, word_list names) {
  const auto found = named(names);
  to.array(found.size());
  for (const command* each : found) {
    if (each == nullptr)
      to.null();
    else
      write_entry(to, *each);
  }
}

void write_docs(wire::reply_writer& to, word_list names) {
  auto found = named(names);
  std::erase(found, nullptr);
  to.map(found.size());
  for (const command* each : found) {
    to.bulk(lower(each->name));
    to.map(3);
    to.bulk("summary");
    to.bulk(each->summary);
    to.bulk("group");
    to.bulk(each->group);
    to.bulk("syntax");
    to.bulk(each->usage);
  }
}

}  // namespace everseen::server
