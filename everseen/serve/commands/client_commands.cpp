#include "everseen/serve/commands/client_commands.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// CLIENT: what clients say and ask about their connections.
namespace everseen::serve {

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

}  // namespace

std::span<const command> client_commands() {
  static constexpr command subcommands[] = {
      {"CLIENT|GETNAME", 2, right::read, runs::at_once, no_keys, get_name},
      {"CLIENT|ID", 2, right::read, runs::at_once, no_keys, id},
      {"CLIENT|INFO", 2, right::read, runs::at_once, no_keys, client_info},
      {"CLIENT|LIST", -2, right::read, runs::at_once, no_keys, list_clients},
      {"CLIENT|SETINFO", 4, right::read, runs::at_once, no_keys, set_info},
      {"CLIENT|SETNAME", 3, right::read, runs::at_once, no_keys, set_name},
  };
  static constexpr command commands[] = {
      {"CLIENT", -2, right::read, runs::at_once, no_keys, nullptr, nullptr, false, subcommands},
  };
  return commands;
}

}  // namespace everseen::serve
