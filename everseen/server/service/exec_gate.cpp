#include "everseen/server/service/exec_gate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace everseen::server {

// A command increments its count and then checks whether the gate is closed; a transaction closes the gate
// and then reads the counts. Both use memory_order_seq_cst (the default), so at least one of the two sees
// the other.

exec_gate::counter& exec_gate::counter_of_this_thread() noexcept {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t mine = threads++;
  return counters_[mine % counters_.size()];
}

bool exec_gate::enter(counter& in, const void* who, go when_in) noexcept {
  ++in.inside;
  if (!is_closed_) return true;
  {
    const std::scoped_lock alone(lock_);
    if (!is_closed_ || is_for_good_) return true;
    waiting_.push_back({&in, who, std::move(when_in)});
  }
  leave(in);
  return false;
}

void exec_gate::leave(counter& in) noexcept {
  --in.inside;
  if (is_closed_) let_in();
}

void exec_gate::enter_alone(const void* who, go when_in) noexcept {
  {
    const std::scoped_lock alone(lock_);
    is_closed_ = true;
    waiting_.push_back({nullptr, who, std::move(when_in)});
  }
  let_in();
}

void exec_gate::leave_alone() noexcept {
  {
    const std::scoped_lock alone(lock_);
    is_alone_ = false;
  }
  let_in();
}

void exec_gate::withdraw(const void* who) {
  {
    const std::scoped_lock alone(lock_);
    std::erase_if(waiting_, [&](const waiting& each) { return each.who == who; });
  }
  let_in();
}

void exec_gate::open_for_good() {
  {
    const std::scoped_lock alone(lock_);
    is_for_good_ = true;
  }
  let_in();
}

bool exec_gate::is_empty() const noexcept {
  return std::all_of(counters_.begin(), counters_.end(),
                     [](const counter& each) { return each.inside == 0; });
}

void exec_gate::let_in() {
  std::vector<go> in;
  {
    const std::scoped_lock alone(lock_);
    while (!waiting_.empty() && (is_for_good_ || !is_alone_)) {
      waiting& next = waiting_.front();
      const bool wants_to_be_alone = next.in == nullptr && !is_for_good_;
      if (wants_to_be_alone && !is_empty()) break;
      is_alone_ = wants_to_be_alone;
      if (next.in != nullptr) ++next.in->inside;
      in.push_back(std::move(next.when_in));
      waiting_.pop_front();
    }
    if (waiting_.empty() && !is_alone_) is_closed_ = false;
  }
  for (const go& each : in) each();
}

}  // namespace everseen::server
