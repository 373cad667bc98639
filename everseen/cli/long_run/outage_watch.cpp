#include "everseen/cli/long_run/outage_watch.hpp"

#include <fmt/format.h>

namespace everseen::cli {

namespace {

/// Shorter outages are not reported.
constexpr std::chrono::milliseconds short_outage{500};
/// The note is repeated, so that a user who looks at a held run soon finds out why.
constexpr std::chrono::minutes between_notes{1};

}  // namespace

bool outage_watch::tries_again(const outage& trouble) {
  if (ends_()) return false;
  const std::scoped_lock alone(lock_);
  const bool again = waits(trouble);
  given_up_ = given_up_ || !again;
  const note message = due(trouble, again);
  if (message == note::none) return again;
  if (shown_ == note::none) since_ = clock::now() - trouble.lasted;
  say(message, trouble.why);
  return again;
}

bool outage_watch::waits(const outage& trouble) const {
  if (policy_ == policy::hold) return true;
  return !given_up_ && trouble.lasted < trouble.limit;
}

outage_watch::note outage_watch::due(const outage& trouble, bool again) const {
  if (again && trouble.lasted < short_outage) return note::none;
  if (!again && policy_ == policy::fail) return note::none;  // the run ends and reports the reason
  const note message = again ? note::waiting : note::passing;
  return message == shown_ && clock::now() < said_at_ + between_notes ? note::none : message;
}

void outage_watch::say(note message, const std::string& why) {
  shown_ = message;
  said_at_ = clock::now();
  if (message == note::passing)
    say_("the store gives no verdicts; lines are printed without a verdict: " + why);
  else if (policy_ == policy::hold)
    say_("the store gives no verdicts; lines are held until it is back: " + why);
  else
    say_("the store gives no verdicts; trying again: " + why);
}

void outage_watch::on_recovered() {
  const std::scoped_lock alone(lock_);
  given_up_ = false;
  if (shown_ == note::none) return;
  shown_ = note::none;
  const std::chrono::duration<double> lasted = clock::now() - since_;
  say_(fmt::format("the store is back after {:.1f} s", lasted.count()));
}

std::optional<outage_watch::policy> parse_outage(std::string_view word) {
  if (word == "fail") return outage_watch::policy::fail;
  if (word == "pass") return outage_watch::policy::pass;
  if (word == "hold") return outage_watch::policy::hold;
  return std::nullopt;
}

}  // namespace everseen::cli
