#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/base/quantity.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/glob.hpp"
#include "everseen/serve/service/service.hpp"

/// CONFIG: the settings of the server that clients of Redis ask for.
namespace everseen::serve {

namespace {

std::optional<std::int64_t> read_bytes(std::string_view word) noexcept {
  const auto [bytes, fault] = read_quantity(quantity::redis_bytes, word);
  return fault == quantity_fault::none ? std::optional(static_cast<std::int64_t>(bytes)) : std::nullopt;
}

/// A setting of CONFIG, by its name in Redis.
struct setting {
  std::string_view name;
  std::string (*get)(service&);
  void (*set)(service&, std::int64_t) = nullptr;
  std::optional<std::int64_t> (*read)(std::string_view) noexcept = read_integer;
};

constexpr setting settings[] = {
    {"appendonly", [](service&) { return std::string("no"); }},
    {"databases", [](service&) { return std::string("1"); }},
    {"maxclients", [](service& all) { return std::to_string(all.tunable.max_connections.load()); },
     [](service& all, std::int64_t value) { all.tunable.max_connections = static_cast<std::size_t>(value); }},
    {"maxmemory", [](service& all) { return std::to_string(all.filters().max_bytes()); },
     [](service& all, std::int64_t value) { all.filters().set_max_bytes(static_cast<std::uint64_t>(value)); },
     read_bytes},
    {"maxmemory-policy", [](service&) { return std::string("noeviction"); }},
    {"proto-max-bulk-len",
     [](service& all) { return std::to_string(all.settings().request.argument_bytes); }},
    {"save", [](service&) { return std::string(); }},
    {"timeout", [](service& all) { return std::to_string(all.tunable.idle_timeout_s.load()); },
     [](service& all, std::int64_t value) { all.tunable.idle_timeout_s = value; }},
};

void get_settings(call& c) {
  std::vector<const setting*> found;
  for (const setting& each : settings)
    for (const std::string_view pattern : c.words.subspan(2))
      if (matches(pattern, each.name)) {
        found.push_back(&each);
        break;
      }
  c.reply.map(found.size());
  for (const setting* each : found) {
    c.reply.bulk(each->name);
    c.reply.bulk(each->get(c.all));
  }
}

/// A setting to change, and its new value.
struct change {
  const setting* changed;
  std::int64_t value;
};

/// @throws refusal  it cannot be changed like this
change read_change(std::string_view name, std::string_view value) {
  for (const setting& each : settings)
    if (each.name == name && each.set != nullptr)
      if (const auto number = each.read(value); number && *number >= 0) return {&each, *number};
  throw refusal{fmt::format(
      "ERR CONFIG SET failed - '{}' cannot be set to '{}'; maxclients, maxmemory (bytes, as in 100mb) and "
      "timeout (seconds) take a number, all else is an option of everseen serve",
      name.substr(0, 64), value.substr(0, 64))};
}

/// All or nothing, as in Redis.
void set_settings(call& c) {
  if (c.words.size() % 2 != 0) throw wrong_arity(c.called.name);
  std::vector<change> changes;
  for (std::size_t i = 2; i < c.words.size(); i += 2) {
    const change next = read_change(c.words[i], c.words[i + 1]);
    if (std::any_of(changes.begin(), changes.end(),
                    [&](const change& each) { return each.changed == next.changed; }))
      throw refusal{
          fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - duplicate parameter",
                      next.changed->name)};
    changes.push_back(next);
  }
  for (const change& each : changes) each.changed->set(c.all, each.value);
  c.reply.ok();
}

}  // namespace

std::span<const command> config_commands() {
  static constexpr command subcommands[] = {
      {"CONFIG|GET", -3, right::admin, runs::at_once, no_keys, get_settings},
      {"CONFIG|SET", -4, right::admin, runs::at_once, no_keys, set_settings},
  };
  static constexpr command commands[] = {
      {"CONFIG", -2, right::admin, runs::at_once, no_keys, nullptr, nullptr, false, subcommands},
  };
  return commands;
}

}  // namespace everseen::serve
