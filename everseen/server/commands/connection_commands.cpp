#include <algorithm>
#include <string>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/service.hpp"

/// Commands about the connection: authentication and the form of the replies.
namespace everseen::server {

namespace {

const refusal wrong_password{"WRONGPASS invalid username-password pair or user is disabled."};

void log_in(call& c, std::string_view user, std::string_view password) {
  if (!c.from.log_in(user, password)) throw wrong_password;
}

void auth(call& c) {
  if (c.words.size() > 3) throw refusal{"ERR syntax error"};
  if (!c.all.asks_for_password())
    throw refusal{
        "ERR AUTH called without any password configured. Are you sure your configuration is correct?"};
  log_in(c, c.words.size() == 3 ? c.words[1] : "default", c.words.back());
  c.reply.ok();
}

void set_name(call& c, std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char b) { return b > ' ' && b <= '~'; });
  if (!plain) throw refusal{"ERR Client names cannot contain spaces, newlines or special characters."};
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
      if (c.all.asks_for_password()) log_in(c, c.words[i + 1], c.words[i + 2]);
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
  const auto number = read_integer(c.words[1]);
  if (!number) throw refusal{"ERR invalid DB index"};
  if (*number != 0) throw refusal{"ERR DB index is out of range"};
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

void list_clients(call& c) {
  std::string lines;
  for (const auto& each : c.all.clients().all()) lines += describe(*each, now_ms()) + "\n";
  c.reply.bulk(lines);
}

/// CLIENT KILL address, or CLIENT KILL ID id | ADDR address | USER name ...; all conditions must match.
void kill_clients(call& c) {
  if (c.from.rights() < right::admin)
    throw refusal{"NOPERM this user has no permissions to run the 'client|kill' command"};
  const word_list filters = c.words.subspan(2);
  const bool is_old_form = filters.size() == 1;
  if (filters.empty() || (!is_old_form && filters.size() % 2 != 0)) throw refusal{"ERR syntax error"};
  std::int64_t killed = 0;
  for (const auto& each : c.all.clients().all()) {
    bool fits = is_old_form ? each->address == filters[0] : each->id != c.from.self().id;
    for (std::size_t i = 0; i + 1 < filters.size(); i += 2) {
      if (is_word(filters[i], "ID"))
        fits = fits && std::to_string(each->id) == filters[i + 1];
      else if (is_word(filters[i], "ADDR"))
        fits = fits && each->address == filters[i + 1];
      else if (is_word(filters[i], "USER"))
        fits = fits && each->user() == filters[i + 1];
      else
        throw refusal{"ERR syntax error"};
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
  if (is_word(what, "SETINFO") && count == 4) return c.reply.ok();
  if (is_word(what, "INFO") && count == 2) return c.reply.bulk(describe(c.from.self(), now_ms()) + "\n");
  if (is_word(what, "LIST")) return list_clients(c);
  if (is_word(what, "KILL")) return kill_clients(c);
  if ((is_word(what, "NO-EVICT") || is_word(what, "NO-TOUCH")) && count == 3) return c.reply.ok();
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
       "Says who the client is",
       "[username] password",
       auth,
       nullptr,
       true},
      {"CLIENT",
       -2,
       right::read,
       runs::at_once,
       {},
       "connection",
       "Tells of clients, names and ends them",
       "ID | GETNAME | SETNAME name | SETINFO attribute value | INFO | LIST | KILL filter",
       client_command},
      {"ECHO", 2, right::read, runs::at_once, {}, "connection", "Gives a message back", "message", echo},
      {"HELLO",
       -1,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Chooses the version of the protocol",
       "[protover [AUTH username password] [SETNAME clientname]]",
       hello,
       nullptr,
       true},
      {"PING", -1, right::read, runs::at_once, {}, "connection", "Answers PONG", "[message]", ping},
      {"QUIT",
       -1,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Ends the connection",
       "",
       quit,
       nullptr,
       true},
      {"RESET",
       1,
       right::nothing,
       runs::at_once,
       {},
       "connection",
       "Makes the connection as it was when it began",
       "",
       reset,
       nullptr,
       true},
      {"SELECT",
       2,
       right::read,
       runs::at_once,
       {},
       "connection",
       "Chooses a database: there is 0",
       "index",
       select},
  };
  return commands;
}

}  // namespace everseen::server
