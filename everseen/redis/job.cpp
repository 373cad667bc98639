#include "everseen/redis/job.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "everseen/core/assert.hpp"
#include "everseen/redis/command.hpp"

namespace everseen::redis {

namespace {

bool is_named(std::string_view command, std::string_view name) {
  return std::ranges::equal(
      name_of(command), name, {}, [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : +c; },
      [](char c) { return +c; });
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
  if (first) choose_again(refused);
  if (first && std::ranges::find(refused, false) != refused.end()) may_have_run = true;
  return first;
}

void job::choose_again(const std::vector<bool>& refused) {
  const bool all = request_.repeatable || replies_.back().is_error("EXECABORT") ||
                   std::ranges::find(refused, false) == refused.end();
  todo_.clear();
  rewritten_.clear();
  permission_.clear();
  if (all) return;
  const auto commands = split_commands(request_.wire);
  bool behind = false;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    behind = behind || refused[i];
    if (!refused[i] && !(behind && is_named(commands[i], "WAIT"))) continue;
    todo_.push_back(i);
    rewritten_ += commands[i];
  }
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

}  // namespace everseen::redis
