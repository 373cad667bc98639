#include "everseen/redis/transport/job.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "everseen/core/assert.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

bool is_named(std::string_view command, std::string_view name) {
  return std::ranges::equal(
      name_of(command), name, {}, [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : +c; },
      [](char c) { return +c; });
}

/// Whether every command that names a key was refused.
bool all_keys_left(std::span<const std::string_view> commands, const std::vector<bool>& refused) {
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const bool keyless = is_named(commands[i], "MULTI") || is_named(commands[i], "EXEC");
    if (!keyless && !refused[i]) return false;
  }
  return true;
}

}  // namespace

job::job(const request& r, std::optional<endpoint> pinned) : request_(r), pinned_(std::move(pinned)) {
  EVERSEEN_ASSERT(r.commands > 0);
}

std::string_view job::wire() const noexcept {
  return rewritten_.empty() ? request_.wire : rewritten_;
}

std::size_t job::commands() const noexcept {
  if (!permission_.empty()) return permission_.size();
  return todo_.empty() ? request_.commands : todo_.size();
}

std::optional<refusal> job::take(std::vector<reply> replies, const endpoint& from) {
  std::optional<refusal> first;
  std::vector<bool> refused(request_.commands, false);
  if (replies_.empty()) replies_.resize(request_.commands);
  for (std::size_t i = 0, taken = 0; i < replies.size(); ++i) {
    if (!permission_.empty() && permission_[i]) continue;
    const std::size_t command = todo_.empty() ? taken : todo_[taken];
    ++taken;
    auto why = refusal_of(replies[i], from);
    refused[command] = why.has_value();
    if (!first) first = std::move(why);
    replies_[command] = std::move(replies[i]);
  }
  if (!first) return {};
  const auto commands = split_commands(request_.wire);
  if (!look_at_transaction(commands, from, *first, refused)) return {};
  if (std::ranges::find(refused, false) != refused.end()) may_have_run = true;
  choose_again(commands, refused);
  return first;
}

/// EXEC tells for all commands around it whether they were refused. Returns whether anything is to be sent
/// again.
bool job::look_at_transaction(std::span<const std::string_view> commands, const endpoint& from,
                              refusal& first, std::vector<bool>& refused) const {
  const auto exec = std::ranges::find_if(commands, [](auto c) { return is_named(c, "EXEC"); });
  if (exec == commands.end()) return true;
  const reply& told = replies_[static_cast<std::size_t>(exec - commands.begin())];
  const bool ran = !told.is_error("EXECABORT") && !refusal_of(told, from);
  if (ran) return bool(request_.repeatable);
  // Whoever would be asked has not all the keys either; and there, a command that makes its key would stand
  // in the way of the one that is to come.
  if (first.why == refusal::kind::ask && !all_keys_left(commands, refused)) first.why = refusal::kind::later;
  refused.assign(refused.size(), true);
  return true;
}

void job::choose_again(std::span<const std::string_view> commands, const std::vector<bool>& refused) {
  todo_.clear();
  rewritten_.clear();
  permission_.clear();
  if (request_.repeatable || std::ranges::find(refused, false) == refused.end()) return;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!refused[i]) continue;
    todo_.push_back(i);
    rewritten_ += commands[i];
  }
}

/// An error, and the OK and QUEUED of a transaction that was not run, did nothing; of a pipeline some
/// commands may have run, and others be refused.
bool job::waits_for_replicas() const {
  return request_.on_replicas && std::ranges::any_of(replies_, [](const reply& r) {
           return r.what() == reply::kind::integer || r.what() == reply::kind::string ||
                  r.what() == reply::kind::array;
         });
}

void job::ask_for_permission() {
  static const std::string asking = encode({"ASKING"});
  const auto commands = split_commands(request_.wire);
  if (todo_.empty()) {
    todo_.resize(commands.size());
    std::iota(todo_.begin(), todo_.end(), std::size_t{0});
  }
  bool in_transaction = false;  // permission given to MULTI lasts until EXEC
  rewritten_.clear();
  for (const std::size_t i : todo_) {
    if (!in_transaction) {
      rewritten_ += asking;
      permission_.push_back(true);
    }
    in_transaction = in_transaction || is_named(commands[i], "MULTI");
    rewritten_ += commands[i];
    permission_.push_back(false);
  }
}

void job::start_over() {
  if (!request_.repeatable) return;  // replies of earlier rounds stay, and so does what is left to send
  todo_.clear();
  rewritten_.clear();
  permission_.clear();
}

std::chrono::milliseconds job::in_trouble_for() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *trouble_since);
}

outage job::ended_by(const failure& why) const {
  std::string message = why.message;
  if (!why.permanent && trouble_since) {
    const auto since = in_trouble_for();
    if (since.count() >= 100) message += " (tried for " + std::to_string(since.count()) + " ms)";
  }
  return {std::move(message), may_have_run};
}

}  // namespace everseen::redis
