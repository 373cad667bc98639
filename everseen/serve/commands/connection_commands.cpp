#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands about the connection and its client: authentication, the form of the replies, and what clients
/// say and ask about each other.
namespace everseen::serve {

namespace {

/// A word that a client says about itself, to be kept while it is connected.
/// @param subject  the word, for the refusal
/// @throws refusal  it is not of printable ASCII without blanks, or is too long
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

// CLIENT: what clients say and ask about their connections.

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

/// Each is compared with each client.
constexpr std::size_t most_ids = 512;

/// CLIENT LIST [TYPE type | ID id ...]
void list_clients(call& c) {
  const word_list which = c.words.subspan(2);
  const bool by_type = which.size() == 2 && is_word(which[0], "TYPE");
  const bool by_id = which.size() >= 2 && is_word(which[0], "ID");
  if (!which.empty() && !by_type && !by_id) throw syntax_error();
  if (by_id && which.size() - 1 > most_ids)
    throw refusal{fmt::format("ERR one request lists at most {} clients by their ID", most_ids)};
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

}  // namespace

std::span<const command> connection_commands() {
  static constexpr command of_acl[] = {
      {"ACL|WHOAMI", 2, right::read, runs::at_once, no_keys, who_am_i},
  };
  static constexpr command of_client[] = {
      {"CLIENT|GETNAME", 2, right::read, runs::at_once, no_keys, get_name},
      {"CLIENT|ID", 2, right::read, runs::at_once, no_keys, id},
      {"CLIENT|INFO", 2, right::read, runs::at_once, no_keys, client_info},
      {"CLIENT|LIST", -2, right::read, runs::at_once, no_keys, list_clients},
      {"CLIENT|SETINFO", 4, right::read, runs::at_once, no_keys, set_info},
      {"CLIENT|SETNAME", 3, right::read, runs::at_once, no_keys, set_name},
  };
  static constexpr command commands[] = {
      {"ACL", -2, right::read, runs::at_once, no_keys, nullptr, nullptr, false, of_acl},
      {"AUTH", -2, right::nothing, runs::at_once, no_keys, auth, nullptr, true},
      {"CLIENT", -2, right::read, runs::at_once, no_keys, nullptr, nullptr, false, of_client},
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
