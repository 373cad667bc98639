#include <algorithm>
#include <string>
#include <vector>

#include "everseen/server/base/command.hpp"
#include "everseen/server/commands/command_docs.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/service.hpp"

/// ACL: who may do what. Users are options of the server, so nothing is changed here.
namespace everseen::server {

namespace {

/// A server without users has the default one, who may do everything.
std::vector<user_account> users_of(const service& all) {
  if (all.asks_for_password()) return all.settings().users;
  return {{"default", "", right::admin}};
}

void who_am_i(call& c) {
  c.reply.bulk(c.from.self().user());
}

void names(call& c) {
  const auto users = users_of(c.all);
  c.reply.array(users.size());
  for (const user_account& each : users) c.reply.bulk(each.name);
}

/// The rights of a user in the words of Redis; each right includes the ones before it.
std::string_view commands_for(right may) {
  switch (may) {
    case right::nothing:
      return "-@all";
    case right::read:
      return "+@all -@write -@admin";
    case right::write:
      return "+@all -@admin";
    case right::admin:
      return "+@all";
  }
  return "-@all";
}

/// Passwords are shown in no form.
void acl_list(call& c) {
  const auto users = users_of(c.all);
  c.reply.array(users.size());
  for (const user_account& each : users)
    c.reply.bulk("user " + each.name + " on" + (each.password.empty() ? " nopass" : "") + " ~* &* " +
                 std::string(commands_for(each.may)));
}

void get_user(call& c) {
  const auto users = users_of(c.all);
  const auto found = std::find_if(users.begin(), users.end(),
                                  [&](const user_account& each) { return each.name == c.words[2]; });
  if (found == users.end()) return c.reply.null();
  c.reply.map(6);
  c.reply.bulk("flags");
  c.reply.set(found->password.empty() ? 2 : 1);
  c.reply.bulk("on");
  if (found->password.empty()) c.reply.bulk("nopass");
  c.reply.bulk("passwords");
  c.reply.array(0);
  c.reply.bulk("commands");
  c.reply.bulk(commands_for(found->may));
  c.reply.bulk("keys");
  c.reply.bulk("~*");
  c.reply.bulk("channels");
  c.reply.bulk("&*");
  c.reply.bulk("selectors");
  c.reply.array(0);
}

/// ACL CAT [category]
void acl_categories(call& c) {
  if (c.words.size() > 3) throw wrong_arity(c.what.name);
  const auto known = all_categories();
  if (c.words.size() == 2) {
    c.reply.array(known.size());
    for (const std::string_view each : known) c.reply.bulk(each);
    return;
  }
  const std::string category = lower(c.words[2]);
  if (std::find(known.begin(), known.end(), category) == known.end())
    throw refusal{"ERR Unknown category '" + std::string(c.words[2].substr(0, 64)) + "'"};
  const auto commands = commands_of(category);
  c.reply.array(commands.size());
  for (const std::string_view each : commands) c.reply.bulk(lower(each));
}

}  // namespace

std::span<const command> acl_commands() {
  static constexpr command subcommands[] = {
      {"ACL|CAT", -2, right::read, runs::at_once, no_keys, "server",
       "Lists the categories of commands, or the commands of one", "[category]", acl_categories},
      {"ACL|GETUSER", 3, right::admin, runs::at_once, no_keys, "server", "Returns the rights of a user",
       "name", get_user},
      {"ACL|HELP", 2, right::read, runs::at_once, no_keys, "server", "Returns this list", "", write_help},
      {"ACL|LIST", 2, right::admin, runs::at_once, no_keys, "server", "Lists the users and their rights", "",
       acl_list},
      {"ACL|USERS", 2, right::admin, runs::at_once, no_keys, "server", "Lists the names of the users", "",
       names},
      {"ACL|WHOAMI", 2, right::read, runs::at_once, no_keys, "server",
       "Returns the name of the user of the connection", "", who_am_i},
  };
  static constexpr command commands[] = {
      {"ACL", -2, right::read, runs::at_once, no_keys, "server", "Describes users and rights", "subcommand",
       nullptr, nullptr, false, false, false, subcommands},
  };
  return commands;
}

}  // namespace everseen::server
