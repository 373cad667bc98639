#include "everseen/redis/transport/call.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

call::call(const request& r, std::optional<endpoint> pinned) : call(r, r.wire, r.commands) {
  pinned_ = std::move(pinned);
}

call::call(const request& r, std::string_view wire, std::size_t commands)
    : request_(r), wire_(wire), commands_(commands) {}

std::string_view call::wire() const noexcept {
  return asking_.empty() ? wire_ : asking_;
}

std::size_t call::commands() const noexcept {
  return asking_.empty() ? commands_ : 2 * refused_.size();
}

std::optional<refusal> call::process_replies(std::vector<reply> replies, const endpoint& from) {
  if (asking_.empty())
    replies_ = std::move(replies);
  else
    for (std::size_t i = 0; i < refused_.size(); ++i) replies_[refused_[i]] = std::move(replies[2 * i + 1]);
  asking_.clear();
  refused_.clear();
  std::optional<refusal> first;
  for (std::size_t i = 0; i < commands_; ++i)
    if (auto why = refusal_of(replies_[i], from)) {
      refused_.push_back(i);
      if (!first) first = std::move(why);
    }
  std::size_t refused = refused_.size();
  const auto lacks_script = [](const reply& r) { return r.is_error("NOSCRIPT"); };
  if (!first && request_.called != nullptr && text_.empty() && std::ranges::any_of(replies_, lacks_script)) {
    first = refusal{.why = refusal::kind::no_script};
    refused = static_cast<std::size_t>(std::ranges::count_if(replies_, lacks_script));
    text_ = with_text(wire_, *request_.called);
    wire_ = text_;
  }
  if (first) may_have_run = may_have_run || refused < commands_;
  return first;
}

void call::ask_for_permission() {
  static const std::string asking = encode({"ASKING"});
  const auto commands = split_commands(wire_);
  for (const std::size_t i : refused_) asking_.append(asking).append(commands[i]);
}

/// A command that failed has changed nothing.
bool call::waits_for_replicas() const {
  return request_.on_replicas && std::ranges::any_of(replies_, [](const reply& r) { return !r.is_error(); });
}

std::chrono::milliseconds call::in_trouble_for() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *trouble_since);
}

outage call::ended_by(const failure& why) const {
  std::string message = why.message;
  if (!why.permanent && trouble_since) {
    const auto since = in_trouble_for();
    if (since.count() >= 100) message += " (tried for " + std::to_string(since.count()) + " ms)";
  }
  return {std::move(message), may_have_run};
}

}  // namespace everseen::redis
