#include <string_view>
#include <vector>

#include "everseen/server/command.hpp"
#include "everseen/server/session.hpp"

/// MULTI and EXEC: requests that are written down, then run one behind the other. Each is atomic as ever;
/// those of other clients may come between them.
namespace everseen::server {

namespace {

void multi(call& c) {
  c.from.begin_transaction();
  c.reply.ok();
}

void discard(call& c) {
  (void)c.from.end_transaction("DISCARD");
  c.reply.ok();
}

void exec(call& c) {
  const session::transaction all = c.from.end_transaction("EXEC");
  if (all.is_broken) throw refusal{"EXECABORT Transaction discarded because of previous errors."};
  c.reply.array(all.requests.size());
  for (const auto& request : all.requests) {
    const std::vector<std::string_view> words(request.begin(), request.end());
    c.from.run_request(*find_command(words[0]), words);
  }
}

void watch(call&) {
  throw refusal{"ERR there is nothing to watch: a filter has no value that could be read and changed"};
}

}  // namespace

std::span<const command> transaction_commands() {
  static constexpr command commands[] = {
      {"DISCARD",
       1,
       right::read,
       runs::at_once,
       {},
       "transactions",
       "Forgets the requests since MULTI",
       "",
       discard,
       nullptr,
       true},
      {"EXEC",
       1,
       right::read,
       runs::on_worker,
       {},
       "transactions",
       "Runs the requests since MULTI",
       "",
       exec,
       nullptr,
       true},
      {"MULTI",
       1,
       right::read,
       runs::at_once,
       {},
       "transactions",
       "Begins to write requests down",
       "",
       multi,
       nullptr,
       true},
      {"UNWATCH",
       1,
       right::read,
       runs::at_once,
       {},
       "transactions",
       "Does nothing, as nothing is watched",
       "",
       [](call& c) { c.reply.ok(); }},
      {"WATCH",
       -2,
       right::read,
       runs::at_once,
       {1, -1, 1},
       "transactions",
       "Refused: there is nothing to watch",
       "key [key ...]",
       watch,
       nullptr,
       true},
  };
  return commands;
}

}  // namespace everseen::server
