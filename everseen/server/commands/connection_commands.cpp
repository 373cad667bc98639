#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"
#include "everseen/server/commands/command_docs.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/service.hpp"

/// Commands about the connection: authentication and the form of the replies.
namespace everseen::server {

namespace {

const refusal wrong_password{"WRONGPASS invalid username-password pair or user is disabled."};

/// A server without users has the default one, which any password admits, as in Redis.
void log_in(call& c, std::string_view user, std::string_view password) {
  const bool is_known = c.all.asks_for_password() ? c.from.log_in(user, password) : user == "default";
  if (!is_known) throw wrong_password;
}

void auth(call& c) {
  if (c.words.size() > 3) throw syntax_error();
  if (c.words.size() == 2 && !c.all.asks_for_password())
    throw refusal{
        "ERR AUTH called without any password configured. Are you sure your configuration is correct?"};
  log_in(c, c.words.size() == 3 ? c.words[1] : "default", c.words.back());
  c.reply.ok();
}

bool is_plain(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char b) { return b > ' ' && b <= '~'; });
}

void set_name(call& c, std::string_view name) {
  if (!is_plain(name))
    throw refusal{"ERR Client names cannot contain spaces, newlines or special characters."};
  c.from.self().set_name(std::string(name));
}

void hello(call& c) {
  wire::protocol version = c.from.version();
  std::size_t i = 1;
  if (c.words.size() > 1) {
    const auto number = read_integer(c.words[i++]);
    if (!number) throw refusal{"ERR Protocol version is not an integer or out of range"};
    if (*number != 2 && *number != 3) throw refusal{"NOPROTO unsupported protocol version"};
    version = *number == 2 ? wire::protocol::resp2 : wire::protocol::resp3;
  }
  while (i < c.words.size()) {
    if (is_word(c.words[i], "AUTH") && i + 2 < c.words.size()) {
      log_in(c, c.words[i + 1], c.words[i + 2]);
      i += 3;
    } else if (is_word(c.words[i], "SETNAME") && i + 1 < c.words.size()) {
      set_name(c, c.words[i + 1]);
      i += 2;
    } else {
      throw refusal{"ERR Syntax error in HELLO option '" + std::string(c.words[i].substr(0, 64)) + "'"};
    }
  }
  if (c.from.rights() == right::nothing)
    throw refusal{
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH "
        "<user> <pass> option can be used to authenticate the client and select the RESP protocol version at "
        "the "
        "same time"};
  c.from.set_version(version);
  c.reply.map(7);
  c.reply.bulk("server");
  c.reply.bulk("everseen");
  c.reply.bulk("version");
  c.reply.bulk(EVERSEEN_VERSION);
  c.reply.bulk("proto");
  c.reply.integer(static_cast<std::int64_t>(version));
  c.reply.bulk("id");
  c.reply.integer(static_cast<std::int64_t>(c.from.self().id));
  c.reply.bulk("mode");
  c.reply.bulk("standalone");
  c.reply.bulk("role");
  c.reply.bulk("master");
  c.reply.bulk("modules");
  c.reply.array(0);
}

void ping(call& c) {
  if (c.words.size() > 2) throw wrong_arity(c.what.name);
  if (c.words.size() == 2)
    c.reply.bulk(c.words[1]);
  else
    c.reply.status("PONG");
}

void echo(call& c) {
  c.reply.bulk(c.words[1]);
}

void select(call& c) {
  c.from.select_database(read_integer(c.words[1]));
  c.reply.ok();
}

void quit(call& c) {
  c.from.end();
  c.reply.ok();
}

void reset(call& c) {
  c.from.reset();
  c.reply.status("RESET");
}

std::int64_t now_ms() {
  return service::now().time_since_epoch().count();
}

/// Whether CLIENT LIST TYPE of this word lists the clients: all are normal ones.
bool lists_type(std::string_view type) {
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
    const auto id = read_integer(which[i]);
    if (!id || *id < 0) throw refusal{"ERR Invalid client ID"};
    ids.push_back(static_cast<std::uint64_t>(*id));
  }
  const bool lists_all = !by_id && (!by_type || lists_type(which[1]));
  std::string lines;
  for (const auto& each : c.all.clients().all())
    if (lists_all || std::find(ids.begin(), ids.end(), each->id) != ids.end())
      lines += describe(*each, now_ms()) + "\n";
  c.reply.bulk(lines);
}

/// CLIENT SETINFO: what it sets is shown nowhere.
void check_info(std::string_view attribute, std::string_view value) {
  if (!is_word(attribute, "LIB-NAME") && !is_word(attribute, "LIB-VER"))
    throw refusal{"ERR Unrecognized option '" + std::string(attribute.substr(0, 64)) + "'"};
  if (!is_plain(value))
    throw refusal{"ERR " + lower(attribute) + " cannot contain spaces, newlines or special characters."};
}

/// @throws refusal  it is no id
bool has_id(const client& each, std::string_view word) {
  const auto id = read_integer(word);
  if (!id || *id < 1) throw refusal{"ERR client-id should be greater than 0"};
  return each.id == static_cast<std::uint64_t>(*id);
}

/// CLIENT KILL address, or CLIENT KILL ID id | ADDR address | USER name ...; all conditions must match.
void kill_clients(call& c) {
  if (c.from.rights() < right::admin)
    throw refusal{"NOPERM this user has no permissions to run the 'client|kill' command"};
  const word_list filters = c.words.subspan(2);
  const bool is_old_form = filters.size() == 1;
  if (filters.empty() || (!is_old_form && filters.size() % 2 != 0)) throw syntax_error();
  std::int64_t killed = 0;
  for (const auto& each : c.all.clients().all()) {
    bool fits = is_old_form ? each->address == filters[0] : each->id != c.from.self().id;
    for (std::size_t i = 0; i + 1 < filters.size(); i += 2) {
      if (is_word(filters[i], "ID"))
        fits = has_id(*each, filters[i + 1]) && fits;
      else if (is_word(filters[i], "ADDR"))
        fits = fits && each->address == filters[i + 1];
      else if (is_word(filters[i], "USER"))
        fits = fits && each->user() == filters[i + 1];
      else
        throw syntax_error();
    }
    if (!fits) continue;
    each->end();
    ++killed;
  }
  if (!is_old_form) return c.reply.integer(killed);
  if (killed == 0) throw refusal{"ERR No such client"};
  c.reply.ok();
}

void client_command(call& c) {
  const std::string_view what = c.words[1];
  const std::size_t count = c.words.size();
  if (is_word(what, "ID") && count == 2) return c.reply.integer(static_cast<std::int64_t>(c.from.self().id));
  if (is_word(what, "GETNAME") && count == 2) {
    const std::string name = c.from.self().name();
    return name.empty() ? c.reply.null() : c.reply.bulk(name);
  }
  if (is_word(what, "SETNAME") && count == 3) return set_name(c, c.words[2]), c.reply.ok();
  if (is_word(what, "SETINFO") && count == 4) return check_info(c.words[2], c.words[3]), c.reply.ok();
  if (is_word(what, "INFO") && count == 2) return c.reply.bulk(describe(c.from.self(), now_ms()) + "\n");
  if (is_word(what, "LIST")) return list_clients(c);
  if (is_word(what, "KILL")) return kill_clients(c);
  if ((is_word(what, "NO-EVICT") || is_word(what, "NO-TOUCH")) && count == 3) {
    if (!is_word(c.words[2], "ON") && !is_word(c.words[2], "OFF")) throw syntax_error();
    return c.reply.ok();
  }
  throw refusal{"ERR unknown subcommand or wrong number of arguments for '" +
                std::string(what.substr(0, 64)) +
                "'. There are ID, GETNAME, SETNAME, SETINFO, INFO, LIST and KILL."};
}

}  // namespace

std::span<const command> connection_commands() {
  static constexpr command commands[] = {
      {"AUTH",
       -2,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Authenticates the client",
       "[username] password",
       auth,
       nullptr,
       true,
       false,
       true},
      {"CLIENT",
       -2,
       right::read,
       runs::at_once,
       {},
       "connection",
       "Lists, names and disconnects clients",
       "ID | GETNAME | SETNAME name | SETINFO attribute value | INFO | LIST [TYPE type | ID id ...] | KILL "
       "filter",
       client_command},
      {"ECHO", 2, right::read, runs::at_once, {}, "connection", "Returns its argument", "message", echo},
      {"HELLO",
       -1,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Selects the version of the protocol",
       "[protover [AUTH username password] [SETNAME clientname]]",
       hello,
       nullptr,
       true,
       false,
       true},
      {"PING",
       -1,
       right::read,
       runs::at_once,
       {},
       "connection",
       "Answers PONG",
       "[message]",
       ping,
       nullptr,
       false,
       false,
       true},
      {"QUIT",
       -1,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Closes the connection",
       "",
       quit,
       nullptr,
       true,
       false,
       true},
      {"RESET",
       1,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Resets the connection to its initial state",
       "",
       reset,
       nullptr,
       true,
       false,
       true},
      {"SELECT",
       2,
       right::read,
       runs::at_once,
       {},
       "connection",
       "Selects a database, 0 to 15",
       "index",
       select,
       nullptr,
       false,
       false,
       true},
  };
  return commands;
}

}  // namespace everseen::server
