#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/core/base/quantity.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/glob.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands about the server as a whole, and CONFIG: those of its settings that clients of Redis ask for.
namespace everseen::serve {

namespace {

std::string keyspace_of(filter_registry& filters) {
  return fmt::format("# Keyspace\r\ndb0:keys={},expires=0,avg_ttl=0\r\n", filters.keys().size());
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(service::now().time_since_epoch()).count();
}

/// A part of INFO's answer.
struct info_section {
  std::string_view name;  ///< in capitals
  std::string text;
};

std::vector<info_section> info_sections(service& all) {
  const auto up = std::chrono::duration_cast<std::chrono::seconds>(service::now() - all.started()).count();
  const auto& count = all.count;
  auto& filters = all.filters();
  return {
      {"SERVER",
       fmt::format("# Server\r\nredis_version:7.0.0\r\neverseen_version:{}\r\nredis_mode:standalone\r\n"
                   "process_id:{}\r\nuptime_in_seconds:{}\r\n",
                   EVERSEEN_VERSION, ::getpid(), up)},
      {"CLIENTS", fmt::format("# Clients\r\nconnected_clients:{}\r\nmaxclients:{}\r\n", all.clients().size(),
                              all.tunable.max_connections.load())},
      {"MEMORY", fmt::format("# Memory\r\nused_memory:{}\r\nmaxmemory:{}\r\nmaxmemory_policy:noeviction\r\n",
                             filters.bytes(), filters.max_bytes())},
      {"PERSISTENCE",
       fmt::format("# Persistence\r\nloading:0\r\nrdb_last_save_time:{}\r\n", count.last_save_s.load())},
      {"STATS",
       fmt::format("# Stats\r\ntotal_connections_received:{}\r\nrejected_connections:{}\r\n"
                   "total_commands_processed:{}\r\nkeys_added:{}\r\nkeys_checked:{}\r\nstore_outages:{}\r\n",
                   count.connections.load(), count.refused_connections.load(), count.commands.load(),
                   all.stats().judged_keys(question::add), all.stats().judged_keys(question::check),
                   all.stats().outages())},
      {"REPLICATION", "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n"},
      {"KEYSPACE", keyspace_of(filters)},
  };
}

/// Whether a request for these sections, or for none, includes this one.
bool is_asked_for(word_list sections, std::string_view name) {
  return sections.empty() || std::any_of(sections.begin(), sections.end(), [&](std::string_view word) {
           return is_word(word, name) || is_word(word, "DEFAULT") || is_word(word, "ALL") ||
                  is_word(word, "EVERYTHING");
         });
}

void server_info(call& c) {
  std::string text;
  for (const info_section& each : info_sections(c.all))
    if (is_asked_for(c.words.subspan(1), each.name)) text += (text.empty() ? "" : "\r\n") + each.text;
  c.reply.text(text);
}

void save(call& c) {
  c.all.filters().sync();
  c.all.count.last_save_s = seconds_now();
  c.reply.ok();
}

void save_in_background(call& c) {
  if (c.words.size() > 2 || (c.words.size() == 2 && !is_word(c.words[1], "SCHEDULE"))) throw syntax_error();
  // Those that wait would hold workers up, and the end of the server.
  if (c.all.is_saving.exchange(true)) throw refusal{"ERR Background save already in progress"};
  const auto save = [&all = c.all] {
    try {
      all.filters().sync();
      all.count.last_save_s = seconds_now();
    } catch (const std::exception&) {
      // LASTSAVE then stays unchanged, which clients can check.
    }
    all.is_saving = false;
  };
  try {
    c.all.workers().submit(save);
  } catch (...) {
    c.all.is_saving = false;
    throw;
  }
  c.reply.status("Background saving started");
}

void last_save(call& c) {
  c.reply.integer(c.all.count.last_save_s);
}

/// SAVE, NOSAVE, NOW and FORCE change nothing: the server always saves, and has no replicas to wait for.
void shut_down(call& c) {
  const word_list modifiers = c.words.subspan(1);
  const auto has = [&](std::string_view capitals) {
    return std::any_of(modifiers.begin(), modifiers.end(),
                       [&](std::string_view word) { return is_word(word, capitals); });
  };
  for (const std::string_view word : modifiers)
    if (!is_word(word, "SAVE") && !is_word(word, "NOSAVE") && !is_word(word, "NOW") &&
        !is_word(word, "FORCE") && !is_word(word, "ABORT"))
      throw syntax_error();
  if ((has("SAVE") && has("NOSAVE")) || (has("ABORT") && modifiers.size() > 1)) throw syntax_error();
  if (has("ABORT")) throw refusal{"ERR No shutdown in progress."};
  c.all.ask_to_stop();
  c.from.end();  // Redis does not answer either
}

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

std::span<const command> server_commands() {
  static constexpr command of_config[] = {
      {"CONFIG|GET", -3, right::admin, runs::at_once, no_keys, get_settings},
      {"CONFIG|SET", -4, right::admin, runs::at_once, no_keys, set_settings},
  };
  static constexpr command commands[] = {
      {"BGSAVE", -1, right::write, runs::at_once, no_keys, save_in_background},
      {"CONFIG", -2, right::admin, runs::at_once, no_keys, nullptr, nullptr, false, of_config},
      {"INFO", -1, right::read, runs::on_worker, no_keys, server_info},
      {"LASTSAVE", 1, right::read, runs::at_once, no_keys, last_save},
      {"SAVE", 1, right::write, runs::on_worker, no_keys, save},
      {"SHUTDOWN", -1, right::admin, runs::at_once, no_keys, shut_down},
  };
  return commands;
}

}  // namespace everseen::serve
