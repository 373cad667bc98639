#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/server/registry/refusals.hpp"
#include "everseen/server/resp/session.hpp"

/// How the requests of a session run: concurrently or alone, on this thread or on a worker.
namespace everseen::server {

bool session::enter() {
  if (inside_ != nullptr) return true;
  exec_gate::counter& mine = all_.gate().counter_of_this_thread();
  // Once another thread may call back, the session belongs to it.
  is_suspended_ = true;
  const bool is_in = all_.gate().enter(mine, this, [this, &mine] {
    inside_ = &mine;
    wake_();
  });
  if (!is_in) return false;
  is_suspended_ = false;
  inside_ = &mine;
  return true;
}

void session::leave() {
  if (inside_ != nullptr) all_.gate().leave(*std::exchange(inside_, nullptr));
}

void session::run_on_worker(const command& what, word_list request) {
  is_suspended_ = true;
  all_.workers().submit([this, &what, request] {
    run_unless_stopped(what, request);
    wake_up();
  });
}

void session::wake_up() {
  leave();
  wake_();
}

void session::take_back() {
  if (!std::exchange(is_suspended_, false)) return;
  gathered_.write_replies(all_, reply_);
}

void session::run_alone(const command& what, word_list request) {
  leave();
  is_suspended_ = true;
  all_.gate().enter_alone(this, [this, &what, request] {
    all_.workers().submit([this, &what, request] {
      exec_gate& gate = all_.gate();
      run_unless_stopped(what, request);
      gate.leave_alone();
      wake_();
    });
  });
}

void session::run_unless_stopped(const command& what, word_list request) {
  if (all_.stats().gives_up())
    reply_.error("OUTAGE the server is being stopped");
  else
    run_request(what, request);
}

void session::run_request(const command& what, word_list request) {
  client_->last_command.store(what.name.data(), std::memory_order_relaxed);
  if (!has_database_ && !what.without_database)
    return reply_.error(
        "ERR this connection has no database, as SELECT was refused: there is only database 0; SELECT 0 to "
        "go "
        "on");
  const std::size_t before = output_.size();
  for (bool is_again = false;; is_again = true) try {
      call c{all_, *this, request, reply_, what};
      return what.run(c);
    } catch (const error& why) {
      output_.resize(before);  // removes a partial reply
      const bool is_changed =
          !is_again && request.size() > 1 && all_.filters().forget_changed(request[1], why);
      if (!is_changed) return reply_.error(text_of_current_exception());
    } catch (...) {
      output_.resize(before);
      return reply_.error(text_of_current_exception());
    }
}

}  // namespace everseen::server
