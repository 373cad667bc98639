#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"
#include "everseen/server/commands/client_names.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/service.hpp"

/// CLIENT: information about clients, and changes to this connection and to others.
namespace everseen::server {

namespace {

std::int64_t now_ms() {
  return service::now().time_since_epoch().count();
}

void id(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.from.self().id));
}

void get_name(call& c) {
  const std::string name = c.from.self().name();
  name.empty() ? c.reply.null() : c.reply.bulk(name);
}

void set_name(call& c) {
  name_client(c, c.words[2]);
  c.reply.ok();
}

void set_info(call& c) {
  const std::string_view attribute = c.words[2];
  const bool is_name = is_word(attribute, "LIB-NAME");
  if (!is_name && !is_word(attribute, "LIB-VER"))
    throw refusal{"ERR Unrecognized option '" + std::string(attribute.substr(0, 64)) + "'"};
  c.from.self().set_library(is_name ? client::library_word::name : client::library_word::version,
                            client_word(lower(attribute), c.words[3]));
  c.reply.ok();
}

void client_info(call& c) {
  c.reply.text(describe(c.from.self(), now_ms()) + "\n");
}

/// Whether clients of this type are listed: all are normal ones.
bool is_normal(std::string_view type) {
  for (const char* other : {"MASTER", "REPLICA", "SLAVE", "PUBSUB"})
    if (is_word(type, other)) return false;
  if (!is_word(type, "NORMAL"))
    throw refusal{"ERR Unknown client type '" + std::string(type.substr(0, 64)) + "'"};
  return true;
}

/// CLIENT LIST [TYPE type | ID id ...]
void list_clients(call& c) {
  const word_list which = c.words.subspan(2);
  const bool by_type = which.size() == 2 && is_word(which[0], "TYPE");
  const bool by_id = which.size() >= 2 && is_word(which[0], "ID");
  if (!which.empty() && !by_type && !by_id) throw syntax_error();
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 1; by_id && i < which.size(); ++i) {
    const auto number = read_integer(which[i]);
    if (!number || *number < 0) throw refusal{"ERR Invalid client ID"};
    ids.push_back(static_cast<std::uint64_t>(*number));
  }
  const bool lists_all = !by_id && (!by_type || is_normal(which[1]));
  std::string lines;
  for (const auto& each : c.all.clients().all())
    if (lists_all || std::find(ids.begin(), ids.end(), each->id) != ids.end())
      lines += describe(*each, now_ms()) + "\n";
  c.reply.text(lines);
}

/// @throws refusal  it is neither YES nor NO
bool is_yes(std::string_view word) {
  if (!is_word(word, "YES") && !is_word(word, "NO")) throw syntax_error();
  return is_word(word, "YES");
}

/// @throws refusal  it is no id
bool has_id(const client& each, std::string_view word) {
  const auto number = read_integer(word);
  if (!number || *number < 1) throw refusal{"ERR client-id should be greater than 0"};
  return each.id == static_cast<std::uint64_t>(*number);
}

/// Whether a client meets one condition of CLIENT KILL.
bool meets(const client& each, std::string_view condition, std::string_view value) {
  if (is_word(condition, "ID")) return has_id(each, value);
  if (is_word(condition, "ADDR")) return each.address == value;
  if (is_word(condition, "LADDR")) return each.local_address == value;
  if (is_word(condition, "USER")) return each.user() == value;
  if (is_word(condition, "TYPE")) return is_normal(value);
  if (is_word(condition, "SKIPME")) return true;  // it was checked before
  throw syntax_error();
}

/// CLIENT KILL address, or CLIENT KILL ID id | ADDR address | USER name ...; all conditions must match.
void kill(call& c) {
  const word_list conditions = c.words.subspan(2);
  const bool is_old_form = conditions.size() == 1;
  if (!is_old_form && conditions.size() % 2 != 0) throw syntax_error();
  bool skips_me = !is_old_form;
  for (std::size_t i = 0; i + 1 < conditions.size(); i += 2)
    if (is_word(conditions[i], "SKIPME")) skips_me = is_yes(conditions[i + 1]);
  std::vector<std::shared_ptr<client>> found;  // no client is disconnected before all words are checked
  for (const auto& each : c.all.clients().all()) {
    bool fits = is_old_form ? each->address == conditions[0] : !skips_me || each->id != c.from.self().id;
    for (std::size_t i = 0; i + 1 < conditions.size(); i += 2)
      fits = meets(*each, conditions[i], conditions[i + 1]) && fits;
    if (fits) found.push_back(each);
  }
  for (const auto& each : found) each->id == c.from.self().id ? c.from.end() : each->end();
  if (!is_old_form) return c.reply.integer(static_cast<std::int64_t>(found.size()));
  if (found.empty()) throw refusal{"ERR No such client"};
  c.reply.ok();
}

/// NO-EVICT and NO-TOUCH: no client is evicted, and no key.
void accept_switch(call& c) {
  if (!is_word(c.words[2], "ON") && !is_word(c.words[2], "OFF")) throw syntax_error();
  c.reply.ok();
}

void reply(call& c) {
  if (is_word(c.words[2], "ON")) {
    c.from.set_replies(session::replies::on);
    c.reply.ok();
  } else if (is_word(c.words[2], "OFF")) {
    c.from.set_replies(session::replies::off);
  } else if (is_word(c.words[2], "SKIP")) {
    c.from.set_replies(session::replies::skip_next);
  } else {
    throw syntax_error();
  }
}

/// CLIENT UNBLOCK id [TIMEOUT | ERROR]: no client is blocked.
void unblock(call& c) {
  if (c.words.size() > 4) throw wrong_arity(c.what.name);
  if (c.words.size() == 4 && !is_word(c.words[3], "TIMEOUT") && !is_word(c.words[3], "ERROR"))
    throw refusal{"ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"};
  if (!read_integer(c.words[2])) throw refusal{"ERR value is not an integer or out of range"};
  c.reply.integer(0);
}

/// The number of words of an option of CLIENT TRACKING, with its argument; 0: it is none.
std::size_t words_of_option(std::string_view word) {
  for (const char* flag : {"BCAST", "OPTIN", "OPTOUT", "NOLOOP"})
    if (is_word(word, flag)) return 1;
  return is_word(word, "PREFIX") ? 2 : 0;
}

/// CLIENT TRACKING ON | OFF [option ...]
void tracking(call& c) {
  if (is_word(c.words[2], "ON"))
    throw refusal{
        "ERR the server does not track keys: a verdict is never a value to cache; leave client-side caching "
        "off"};
  if (!is_word(c.words[2], "OFF")) throw syntax_error();
  for (std::size_t i = 3; i < c.words.size();) {
    const std::size_t taken = words_of_option(c.words[i]);
    if (taken == 0 || i + taken > c.words.size()) throw syntax_error();
    i += taken;
  }
  c.reply.ok();
}

void tracking_info(call& c) {
  c.reply.map(3);
  c.reply.bulk("flags");
  c.reply.set(1);
  c.reply.bulk("off");
  c.reply.bulk("redirect");
  c.reply.integer(-1);
  c.reply.bulk("prefixes");
  c.reply.array(0);
}

void get_redirection(call& c) {
  c.reply.integer(-1);
}

}  // namespace

std::span<const command> client_commands() {
  static constexpr command subcommands[] = {
      {"CLIENT|GETNAME", 2, right::read, runs::at_once, no_keys, "connection",
       "Returns the name of the connection", "", get_name},
      {"CLIENT|GETREDIR", 2, right::read, runs::at_once, no_keys, "connection",
       "Returns -1, as nothing is tracked", "", get_redirection},
      {"CLIENT|HELP", 2, right::read, runs::at_once, no_keys, "connection", "Returns this list", "",
       write_help},
      {"CLIENT|ID", 2, right::read, runs::at_once, no_keys, "connection",
       "Returns the number of the connection", "", id},
      {"CLIENT|INFO", 2, right::read, runs::at_once, no_keys, "connection", "Describes the connection", "",
       client_info},
      {"CLIENT|KILL", -3, right::admin, runs::at_once, no_keys, "connection", "Disconnects clients",
       "ip:port | [ID id] [TYPE type] [USER name] [ADDR ip:port] [LADDR ip:port] [SKIPME yes|no]", kill},
      {"CLIENT|LIST", -2, right::read, runs::at_once, no_keys, "connection", "Describes the connections",
       "[TYPE type | ID id ...]", list_clients},
      {"CLIENT|NO-EVICT", 3, right::read, runs::at_once, no_keys, "connection",
       "Changes nothing, as no client is evicted", "ON | OFF", accept_switch},
      {"CLIENT|NO-TOUCH", 3, right::read, runs::at_once, no_keys, "connection",
       "Changes nothing, as no key is evicted", "ON | OFF", accept_switch},
      {"CLIENT|REPLY", 3, right::read, runs::at_once, no_keys, "connection",
       "Switches replies off and on, or skips the next one", "ON | OFF | SKIP", reply},
      {"CLIENT|SETINFO", 4, right::read, runs::at_once, no_keys, "connection",
       "Sets the name or the version of the client library", "LIB-NAME name | LIB-VER version", set_info},
      {"CLIENT|SETNAME", 3, right::read, runs::at_once, no_keys, "connection", "Names the connection", "name",
       set_name},
      {"CLIENT|TRACKING", -3, right::read, runs::at_once, no_keys, "connection",
       "Switches tracking off, which it always is", "OFF [option ...]", tracking},
      {"CLIENT|TRACKINGINFO", 2, right::read, runs::at_once, no_keys, "connection",
       "Returns that nothing is tracked", "", tracking_info},
      {"CLIENT|UNBLOCK", -3, right::admin, runs::at_once, no_keys, "connection",
       "Returns 0, as no client is blocked", "id [TIMEOUT | ERROR]", unblock},
  };
  static constexpr command commands[] = {
      {"CLIENT", -2, right::read, runs::at_once, no_keys, "connection",
       "Describes, names and disconnects clients", "subcommand", nullptr, nullptr, false, false, false,
       subcommands},
  };
  return commands;
}

}  // namespace everseen::server
