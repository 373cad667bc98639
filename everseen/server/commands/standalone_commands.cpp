#include <string>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"

/// Questions of clients about replicas, clusters, modules and slow commands. This server has none of them,
/// and answers like a Redis without them.
namespace everseen::server {

namespace {

void role(call& c) {
  c.reply.array(3);
  c.reply.bulk("master");
  c.reply.integer(0);
  c.reply.array(0);
}

/// There are no replicas to wait for.
void wait(call& c) {
  if (!read_integer(c.words[1])) throw refusal{"ERR value is not an integer or out of range"};
  const auto timeout = read_integer(c.words[2]);
  if (!timeout) throw refusal{"ERR timeout is not an integer or out of range"};
  if (*timeout < 0) throw refusal{"ERR timeout is negative"};
  c.reply.integer(0);
}

void refuse_cluster(call&) {
  throw refusal{"ERR This instance has cluster support disabled"};
}

void list_modules(call& c) {
  c.reply.array(0);
}

void list_slow(call& c) {
  if (c.words.size() > 3) throw wrong_arity(c.what.name);
  if (c.words.size() == 3) {
    const auto count = read_integer(c.words[2]);
    if (!count || *count < -1) throw refusal{"ERR count should be greater than or equal to -1"};
  }
  c.reply.array(0);
}

void count_slow(call& c) {
  c.reply.integer(0);
}

void forget_slow(call& c) {
  c.reply.ok();
}

}  // namespace

std::span<const command> standalone_commands() {
  static constexpr command of_module[] = {
      {"MODULE|HELP", 2, right::admin, runs::at_once, no_keys, "server", "Returns this list", "", write_help},
      {"MODULE|LIST", 2, right::admin, runs::at_once, no_keys, "server",
       "Returns the list of modules, which is empty", "", list_modules},
  };
  static constexpr command of_slowlog[] = {
      {"SLOWLOG|GET", -2, right::admin, runs::at_once, no_keys, "server",
       "Returns the list of slow commands, which is empty", "[count]", list_slow},
      {"SLOWLOG|HELP", 2, right::admin, runs::at_once, no_keys, "server", "Returns this list", "",
       write_help},
      {"SLOWLOG|LEN", 2, right::admin, runs::at_once, no_keys, "server",
       "Returns the number of slow commands, which is 0", "", count_slow},
      {"SLOWLOG|RESET", 2, right::admin, runs::at_once, no_keys, "server", "Changes nothing", "",
       forget_slow},
  };
  static constexpr command commands[] = {
      {"CLUSTER", -2, right::read, runs::at_once, no_keys, "cluster", "Refused: this server is no cluster",
       "subcommand", refuse_cluster},
      {"MODULE", -2, right::admin, runs::at_once, no_keys, "server", "Lists modules", "subcommand", nullptr,
       nullptr, false, false, false, of_module},
      {"ROLE", 1, right::read, runs::at_once, no_keys, "server",
       "Returns that the server is a master without replicas", "", role},
      {"SLOWLOG", -2, right::admin, runs::at_once, no_keys, "server", "Lists slow commands", "subcommand",
       nullptr, nullptr, false, false, false, of_slowlog},
      {"WAIT", 3, right::read, runs::at_once, no_keys, "generic",
       "Returns 0, the number of replicas; SAVE and the store's own options make changes durable",
       "numreplicas timeout", wait},
  };
  return commands;
}

}  // namespace everseen::server
