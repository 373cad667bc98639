#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// MULTI and EXEC, as pipelines of clients send them: requests are queued, then run in their order. Requests
/// of other clients may run in between.
namespace everseen::serve {

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

/// Whether the rest of a transaction is no longer run, and why.
class rest_of_transaction {
 public:
  explicit rest_of_transaction(call& c) : call_(c), began_(c.from.output().size()) {}

  /// The error for a request; empty: it is to be run.
  [[nodiscard]] std::string_view why_not(const command& entry) const {
    if (call_.all.stats().gives_up()) return being_stopped;
    if (is_away_ && entry.place == runs::on_worker)
      return "OUTAGE not run: the store gave no answer to a request before it in this transaction";
    // A short request may have a long answer, and a client reads none of them before the last one is ready.
    if (call_.from.output().size() - began_ > call_.all.settings().output_bytes)
      return "ERR not run: the answers before it in this transaction exceed --max-output";
    return {};
  }

  void note_reply(std::string_view reply) { is_away_ = is_away_ || says_outage(reply); }

 private:
  const call& call_;
  const std::size_t began_;  // bytes of replies to earlier requests
  bool is_away_ = false;
};

/// A worker is held meanwhile, so an outage is waited through once, not for each request.
void exec(call& c) {
  const session::transaction all = c.from.end_transaction("EXEC");
  if (all.is_broken) throw refusal{"EXECABORT Transaction discarded because of previous errors."};
  rest_of_transaction rest(c);
  c.reply.array(all.requests.size());
  for (const auto& request : all.requests) {
    const std::vector<std::string_view> words(request.begin(), request.end());
    const command& entry = command_of(words);
    const std::size_t before = c.from.output().size();
    if (const std::string_view why = rest.why_not(entry); !why.empty())
      c.reply.error(why);
    else
      c.from.run_request(entry, words);
    rest.note_reply(std::string_view(c.from.output()).substr(before));
  }
}

}  // namespace

std::span<const command> transaction_commands() {
  static constexpr command commands[] = {
      {"DISCARD", 1, right::read, runs::at_once, no_keys, discard, nullptr, true},
      {"EXEC", 1, right::read, runs::on_worker, no_keys, exec, nullptr, true},
      {"MULTI", 1, right::read, runs::at_once, no_keys, multi, nullptr, true},
  };
  return commands;
}

}  // namespace everseen::serve
