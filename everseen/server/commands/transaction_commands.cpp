#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/server/base/command.hpp"
#include "everseen/server/resp/session.hpp"

/// MULTI and EXEC: requests are queued, then run one after the other. No request of another client of this
/// server runs in between (exec_gate); clients that reach the same store by another way are not excluded.
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

/// Whether the reply that begins here reports an outage; of an array, whether its first element does.
bool says_outage(std::string_view reply) {
  constexpr std::string_view outage = "-OUTAGE ";
  if (reply.starts_with('*')) reply.remove_prefix(std::min(reply.size(), reply.find('\n') + 1));
  return reply.starts_with(outage);
}

/// All other clients wait. So an outage is waited for once here, and not for each request.
void exec(call& c) {
  const session::transaction all = c.from.end_transaction("EXEC");
  if (all.is_broken) throw refusal{"EXECABORT Transaction discarded because of previous errors."};
  c.reply.array(all.requests.size());
  bool is_away = false;
  for (const auto& request : all.requests) {
    const std::vector<std::string_view> words(request.begin(), request.end());
    const command& what = *find_command(words[0]);
    const std::size_t before = c.from.output().size();
    if (is_away && what.place == runs::on_worker)
      c.reply.error("OUTAGE not run: the store gave no answer to a request before it in this transaction");
    else
      c.from.run_request(what, words);
    is_away = is_away || says_outage(std::string_view(c.from.output()).substr(before));
  }
}

/// WATCH is not offered: the server sees only changes that go through it, so the guarantee would fail as
/// soon as a second server or program uses the store.
void watch(call&) {
  throw refusal{
      "ERR WATCH is not offered: others may change a filter in its store unseen; put what belongs together "
      "into MULTI and EXEC, or into one BF.MADD"};
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
       "Discards the requests queued since MULTI",
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
       "Runs the requests queued since MULTI",
       "",
       exec,
       nullptr,
       true,
       true},
      {"MULTI",
       1,
       right::read,
       runs::at_once,
       {},
       "transactions",
       "Starts queuing requests",
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
