#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/report/attached.hpp"
#include "everseen/server/base/command.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/filter_revision.hpp"
#include "everseen/server/service/service.hpp"

/// MULTI and EXEC: requests are queued, then run one after the other. No request of another client of this
/// server runs in between (exec_gate); clients that reach the same store by another way are not excluded.
namespace everseen::server {

namespace {

void multi(call& c) {
  c.from.begin_transaction();
  c.reply.ok();
}

/// Once EXEC has ended its transaction, nothing is watched, even if it fails.
class ending_watch {
 public:
  explicit ending_watch(session& of) noexcept : of_(of) {}
  ~ending_watch() { of_.unwatch(); }
  ending_watch(const ending_watch&) = delete;
  ending_watch& operator=(const ending_watch&) = delete;

 private:
  session& of_;
};

void discard(call& c) {
  (void)c.from.end_transaction("DISCARD");
  c.from.unwatch();
  c.reply.ok();
}

/// Whether the reply that begins here reports an outage; of an array, whether its first element does.
bool says_outage(std::string_view reply) {
  constexpr std::string_view outage = "-OUTAGE ";
  if (reply.starts_with('*')) reply.remove_prefix(std::min(reply.size(), reply.find('\n') + 1));
  return reply.starts_with(outage);
}

/// Whether a watched filter has changed.
bool is_changed(call& c) {
  const auto& watched = c.from.watched();
  return std::any_of(watched.begin(), watched.end(), [&](const auto& each) {
    return revision_of(c.all.filters(), each.first) != each.second;
  });
}

/// All other clients wait meanwhile, so this waits through an outage only once, not for each request.
void exec(call& c) {
  const session::transaction all = c.from.end_transaction("EXEC");
  const ending_watch watched(c.from);
  if (all.is_broken) throw refusal{"EXECABORT Transaction discarded because of previous errors."};
  if (is_changed(c)) return c.reply.null_array();
  c.reply.array(all.requests.size());
  bool is_away = false;
  for (const auto& request : all.requests) {
    const std::vector<std::string_view> words(request.begin(), request.end());
    const command& what = command_of(words);
    const std::size_t before = c.from.output().size();
    if (is_away && what.place == runs::on_worker)
      c.reply.error("OUTAGE not run: the store gave no answer to a request before it in this transaction");
    else
      c.from.run_request(what, words);
    is_away = is_away || says_outage(std::string_view(c.from.output()).substr(before));
  }
}

/// EXEC looks at each watched filter while all other clients wait.
constexpr std::size_t most_watched = 256;

/// Figures of attached filters are cached or rounded, so a key of another program may not change them.
void must_show_changes(call& c, std::string_view key) {
  const auto f = c.all.filters().find(key);
  if (f && attached_behind(f->handle) != nullptr)
    throw refusal{
        "ERR " + quoted_name(key) +
        " cannot be watched: it is attached, and keys that its own program adds would go unnoticed"};
}

void watch(call& c) {
  if (c.from.is_in_transaction()) throw refusal{"ERR WATCH inside MULTI is not allowed"};
  for (const std::string_view key : c.words.subspan(1)) {
    if (c.from.watched().contains(key)) continue;  // the first look counts
    if (c.from.watched().size() == most_watched)
      throw refusal{fmt::format("ERR a connection watches at most {} filters", most_watched)};
    filter_revision now = revision_of(c.all.filters(), key);
    must_show_changes(c, key);
    c.from.watch(key, std::move(now));
  }
  c.reply.ok();
}

void unwatch(call& c) {
  c.from.unwatch();
  c.reply.ok();
}

}  // namespace

std::span<const command> transaction_commands() {
  static constexpr command commands[] = {
      {"DISCARD", 1, right::read, runs::at_once, no_keys, "transactions",
       "Discards the requests queued since MULTI", "", discard, nullptr, true},
      {"EXEC", 1, right::read, runs::on_worker, no_keys, "transactions",
       "Runs the requests queued since MULTI", "", exec, nullptr, true, true},
      {"MULTI", 1, right::read, runs::at_once, no_keys, "transactions", "Starts queuing requests", "", multi,
       nullptr, true},
      {"UNWATCH", 1, right::read, runs::at_once, no_keys, "transactions", "Ends what WATCH began", "",
       unwatch},
      {"WATCH", -2, right::read, runs::on_worker, every_word, "transactions",
       "Makes the next EXEC run nothing if one of these filters has changed by then", "key [key ...]", watch,
       nullptr, true},
  };
  return commands;
}

}  // namespace everseen::server
