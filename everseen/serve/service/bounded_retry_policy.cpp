#include "everseen/serve/service/bounded_retry_policy.hpp"

namespace everseen::serve {

namespace {

/// Of this thread: the object that counts it as waiting; the one of its place; whether that place counts as
/// troubled.
thread_local const bounded_retry_policy* waits_in = nullptr;
thread_local const bounded_retry_policy* has_place_in = nullptr;
thread_local bool is_troubled = false;

}  // namespace

bool bounded_retry_policy::tries_again(const outage& trouble) {
  if (has_place_in == this) {
    note_trouble(trouble.why);
    return !ends_();
  }
  const bool waits = !ends_() && trouble.lasted < trouble.limit && enter();
  if (!waits) leave();
  return waits;
}

void bounded_retry_policy::on_silence(const std::string& why) {
  if (has_place_in == this) note_trouble(why);
}

void bounded_retry_policy::on_recovered() {
  if (has_place_in != this) return leave();
  const std::scoped_lock alone(lock_);
  if (std::exchange(is_troubled, false)) --troubled_;
}

std::optional<bounded_retry_policy::place> bounded_retry_policy::take_place() {
  std::unique_lock alone(lock_);
  changed_.wait(alone, [this] { return taken_ < limits_.places || troubled_ > 0; });
  if (taken_ >= limits_.places) return std::nullopt;
  ++taken_;
  has_place_in = this;
  return place(*this);
}

std::string bounded_retry_policy::why() const {
  const std::scoped_lock alone(lock_);
  return why_;
}

void bounded_retry_policy::give_back() noexcept {
  {
    const std::scoped_lock alone(lock_);
    --taken_;
    if (std::exchange(is_troubled, false)) --troubled_;
  }
  has_place_in = nullptr;
  changed_.notify_one();
}

void bounded_retry_policy::note_trouble(const std::string& why) {
  {
    const std::scoped_lock alone(lock_);
    why_ = why;
    if (std::exchange(is_troubled, true)) return;
    ++troubled_;
  }
  changed_.notify_all();
}

bool bounded_retry_policy::enter() {
  if (waits_in == this) return true;
  const std::scoped_lock alone(lock_);
  if (waiting_ >= limits_.waiting) return false;
  ++waiting_;
  waits_in = this;
  return true;
}

void bounded_retry_policy::leave() noexcept {
  if (waits_in != this) return;
  waits_in = nullptr;
  const std::scoped_lock alone(lock_);
  --waiting_;
}

unsigned bounded_retry_policy::waiting() const {
  const std::scoped_lock alone(lock_);
  return waiting_;
}

}  // namespace everseen::serve
