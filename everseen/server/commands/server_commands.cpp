#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"
#include "everseen/server/commands/command_docs.hpp"
#include "everseen/server/commands/glob.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/service.hpp"

/// Commands about the server as a whole.
namespace everseen::server {

namespace {

/// A line for each database that has keys; one for database 0 in any case.
std::string keyspace_of(filter_registry& filters) {
  std::array<std::size_t, database_count> keys{};
  for (const std::string& name : filters.keys()) ++keys[database_key_of(name).database];
  std::string text = "# Keyspace\r\n";
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (i == 0 || keys[i] > 0) text += fmt::format("db{}:keys={},expires=0,avg_ttl=0\r\n", i, keys[i]);
  return text;
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
                   "total_commands_processed:{}\r\nkeys_added:{}\r\nkeys_checked:{}\r\n",
                   count.connections.load(), count.refused_connections.load(), count.commands.load(),
                   all.stats().judged_keys(question::add), all.stats().judged_keys(question::check))},
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

void info(call& c) {
  std::string text;
  for (const info_section& each : info_sections(c.all))
    if (is_asked_for(c.words.subspan(1), each.name)) text += (text.empty() ? "" : "\r\n") + each.text;
  c.reply.bulk(text);
}

/// A setting of CONFIG, by its name in Redis.
struct setting {
  std::string_view name;
  std::string (*get)(service&);
  void (*set)(service&, std::int64_t) = nullptr;
};

constexpr setting settings[] = {
    {"appendonly", [](service&) { return std::string("no"); }},
    {"databases", [](service&) { return std::to_string(database_count); }},
    {"maxclients", [](service& all) { return std::to_string(all.tunable.max_connections.load()); },
     [](service& all, std::int64_t value) { all.tunable.max_connections = static_cast<std::size_t>(value); }},
    {"maxmemory", [](service& all) { return std::to_string(all.filters().max_bytes()); },
     [](service& all, std::int64_t value) {
       all.filters().set_max_bytes(static_cast<std::uint64_t>(value));
     }},
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
  const setting* of;
  std::int64_t value;
};

/// @throws refusal  it cannot be changed like this
change read_change(std::string_view name, std::string_view value) {
  const auto number = read_integer(value);
  for (const setting& each : settings)
    if (each.name == name && each.set != nullptr && number && *number >= 0) return {&each, *number};
  throw refusal{
      fmt::format("ERR CONFIG SET failed - '{}' cannot be set to '{}'; maxclients, maxmemory (bytes) and "
                  "timeout (seconds) take a number, all else is an option of everseen serve",
                  name.substr(0, 64), value.substr(0, 64))};
}

/// All or nothing, as in Redis.
void set_settings(call& c) {
  if (c.words.size() % 2 != 0) throw wrong_arity("config|set");
  std::vector<change> changes;
  for (std::size_t i = 2; i < c.words.size(); i += 2) {
    const change next = read_change(c.words[i], c.words[i + 1]);
    if (std::any_of(changes.begin(), changes.end(), [&](const change& each) { return each.of == next.of; }))
      throw refusal{fmt::format(
          "ERR CONFIG SET failed (possibly related to argument '{}') - duplicate parameter", next.of->name)};
    changes.push_back(next);
  }
  for (const change& each : changes) each.of->set(c.all, each.value);
  c.reply.ok();
}

void config(call& c) {
  if (is_word(c.words[1], "GET") && c.words.size() > 2) return get_settings(c);
  if (is_word(c.words[1], "SET") && c.words.size() > 3) return set_settings(c);
  if (is_word(c.words[1], "RESETSTAT")) {
    if (c.words.size() > 2) throw wrong_arity("config|resetstat");
    return c.reply.ok();
  }
  throw refusal{"ERR there are CONFIG GET parameter and CONFIG SET parameter value"};
}

void save(call& c) {
  c.all.filters().sync();
  c.all.count.last_save_s = seconds_now();
  c.reply.ok();
}

void save_in_background(call& c) {
  if (c.words.size() > 2 || (c.words.size() == 2 && !is_word(c.words[1], "SCHEDULE"))) throw syntax_error();
  c.all.workers().submit([&all = c.all] {
    try {
      all.filters().sync();
      all.count.last_save_s = seconds_now();
    } catch (const std::exception&) {
      // LASTSAVE then stays unchanged, which clients can check.
    }
  });
  c.reply.status("Background saving started");
}

void last_save(call& c) {
  c.reply.integer(c.all.count.last_save_s);
}

/// SAVE, NOSAVE, NOW and FORCE change nothing: the server always saves, and has no replicas to wait for.
void shut_down(call& c) {
  const word_list how = c.words.subspan(1);
  const auto has = [&](std::string_view capitals) {
    return std::any_of(how.begin(), how.end(),
                       [&](std::string_view word) { return is_word(word, capitals); });
  };
  for (const std::string_view word : how)
    if (!is_word(word, "SAVE") && !is_word(word, "NOSAVE") && !is_word(word, "NOW") &&
        !is_word(word, "FORCE") && !is_word(word, "ABORT"))
      throw syntax_error();
  if ((has("SAVE") && has("NOSAVE")) || (has("ABORT") && how.size() > 1)) throw syntax_error();
  if (has("ABORT")) throw refusal{"ERR No shutdown in progress."};
  c.all.ask_to_stop();
  c.from.end();  // Redis does not answer either
}

void time(call& c) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  c.reply.array(2);
  c.reply.bulk(std::to_string(us / 1'000'000));
  c.reply.bulk(std::to_string(us % 1'000'000));
}

void command_command(call& c) {
  if (c.words.size() == 1) return write_table(c.reply, {});
  const word_list names = c.words.subspan(2);
  if (is_word(c.words[1], "COUNT") && !names.empty()) throw wrong_arity("command|count");
  if (is_word(c.words[1], "LIST") && !names.empty()) throw syntax_error();
  if (is_word(c.words[1], "COUNT")) return c.reply.integer(static_cast<std::int64_t>(all_commands().size()));
  if (is_word(c.words[1], "INFO")) return write_table(c.reply, names);
  if (is_word(c.words[1], "DOCS")) return write_docs(c.reply, names);
  if (is_word(c.words[1], "LIST")) {
    c.reply.array(all_commands().size());
    for (const command& each : all_commands()) c.reply.bulk(lower(each.name));
    return;
  }
  throw refusal{"ERR there are COMMAND, COMMAND COUNT, COMMAND INFO, COMMAND DOCS and COMMAND LIST"};
}

void refuse_debug(call&) {
  throw refusal{"ERR DEBUG is not for servers that others use"};
}

void module_command(call& c) {
  if (!is_word(c.words[1], "LIST")) throw refusal{"ERR this server loads no modules"};
  if (c.words.size() > 2) throw wrong_arity("module|list");
  c.reply.array(0);
}

constexpr command::key_positions no_keys{};

}  // namespace

std::span<const command> server_commands() {
  static constexpr command commands[] = {
      {"BGSAVE", -1, right::write, runs::at_once, no_keys, "server",
       "Starts to write acknowledged changes to the disk", "[SCHEDULE]", save_in_background},
      {"COMMAND", -1, right::read, runs::at_once, no_keys, "server", "Describes the commands",
       "[COUNT | INFO name ... | DOCS name ... | LIST]", command_command},
      {"CONFIG", -2, right::admin, runs::at_once, no_keys, "server", "Reads and changes settings",
       "GET parameter ... | SET parameter value ...", config},
      {"DEBUG", -2, right::admin, runs::at_once, no_keys, "server", "Refused", "", refuse_debug},
      {"INFO", -1, right::read, runs::on_worker, no_keys, "server", "Returns the state of the server",
       "[section ...]", info},
      {"LASTSAVE", 1, right::read, runs::at_once, no_keys, "server",
       "Returns when the last SAVE ended, in seconds since 1970", "", last_save},
      {"MODULE", -2, right::admin, runs::at_once, no_keys, "server",
       "Returns the list of modules, which is empty", "LIST", module_command},
      {"SAVE", 1, right::write, runs::on_worker, no_keys, "server", "Writes acknowledged changes to the disk",
       "", save},
      {"SHUTDOWN", -1, right::admin, runs::at_once, no_keys, "server",
       "Answers pending requests, saves, and stops the server", "[NOSAVE | SAVE] [NOW] [FORCE] | ABORT",
       shut_down},
      {"TIME", 1, right::read, runs::at_once, no_keys, "server", "Returns the server's time", "", time},
  };
  return commands;
}

}  // namespace everseen::server
