#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/client_commands.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands about the connection: authentication and the form of the replies.
namespace everseen::serve {

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
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
        "configuration is correct?"};
  log_in(c, c.words.size() == 3 ? c.words[1] : "default", c.words.back());
  c.reply.ok();
}

void connection_hello(call& c) {
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
      name_client(c, c.words[i + 1]);
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
  if (c.words.size() > 2) throw wrong_arity(c.called.name);
  if (c.words.size() == 2)
    c.reply.bulk(c.words[1]);
  else
    c.reply.status("PONG");
}

void echo(call& c) {
  c.reply.bulk(c.words[1]);
}

/// Clients select database 0 by themselves.
void select(call& c) {
  const auto index = read_integer(c.words[1]);
  if (!index) throw refusal{"ERR value is not an integer or out of range"};
  if (*index != 0) throw refusal{"ERR DB index is out of range"};
  c.reply.ok();
}

void who_am_i(call& c) {
  c.reply.bulk(c.from.self().user());
}

void quit(call& c) {
  c.from.end();
  c.reply.ok();
}

void connection_reset(call& c) {
  c.from.reset();
  c.reply.status("RESET");
}

}  // namespace

std::string client_word(std::string_view subject, std::string_view word) {
  constexpr std::size_t most_bytes = 256;  // each connection keeps three
  if (!std::ranges::all_of(word, [](char b) { return b > ' ' && b <= '~'; }))
    throw refusal{fmt::format("ERR {} cannot contain spaces, newlines or special characters.", subject)};
  if (word.size() > most_bytes)
    throw refusal{fmt::format("ERR {} cannot have more than {} bytes", subject, most_bytes)};
  return std::string(word);
}

void name_client(call& c, std::string_view name) {
  c.from.self().set_name(client_word("Client names", name));
}

std::span<const command> connection_commands() {
  static constexpr command of_acl[] = {
      {"ACL|WHOAMI", 2, right::read, runs::at_once, no_keys, who_am_i},
  };
  static constexpr command commands[] = {
      {"ACL", -2, right::read, runs::at_once, no_keys, nullptr, nullptr, false, of_acl},
      {"AUTH", -2, right::nothing, runs::at_once, no_keys, auth, nullptr, true},
      {"ECHO", 2, right::read, runs::at_once, no_keys, echo},
      {"HELLO", -1, right::nothing, runs::at_once, no_keys, connection_hello, nullptr, true},
      {"PING", -1, right::read, runs::at_once, no_keys, ping},
      {"QUIT", -1, right::nothing, runs::at_once, no_keys, quit, nullptr, true},
      {"RESET", 1, right::nothing, runs::at_once, no_keys, connection_reset, nullptr, true},
      {"SELECT", 2, right::read, runs::at_once, no_keys, select},
  };
  return commands;
}

}  // namespace everseen::serve
