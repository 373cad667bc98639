#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands about the server as a whole.
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

}  // namespace

std::span<const command> server_commands() {
  static constexpr command commands[] = {
      {"BGSAVE", -1, right::write, runs::at_once, no_keys, save_in_background},
      {"INFO", -1, right::read, runs::on_worker, no_keys, server_info},
      {"LASTSAVE", 1, right::read, runs::at_once, no_keys, last_save},
      {"SAVE", 1, right::write, runs::on_worker, no_keys, save},
      {"SHUTDOWN", -1, right::admin, runs::at_once, no_keys, shut_down},
  };
  return commands;
}

}  // namespace everseen::serve
