#include <string>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/server/registry/refusals.hpp"
#include "everseen/server/resp/session.hpp"

/// How the requests of a session run: on this thread or on a worker.
namespace everseen::server {

void session::run_on_worker(const command& what, word_list request) {
  is_suspended_ = true;
  all_.workers().submit([this, &what, request] {
    if (all_.stats().gives_up())
      reply_.error(being_stopped);
    else
      run_request(what, request);
    wake_();
  });
}

void session::take_back() {
  if (!std::exchange(is_suspended_, false)) return;
  gathered_.write_replies(all_, reply_);
}

void session::run_request(const command& what, word_list request) {
  client_->last_command.store(what.name.data(), std::memory_order_relaxed);
  const std::size_t before = output_.size();
  for (bool is_again = false;; is_again = true) try {
      call c{all_, *this, request, reply_, what};
      return what.run(c);
    } catch (const error& why) {
      output_.resize(before);  // removes a partial reply
      const auto key = static_cast<std::size_t>(what.keys.first);
      const bool is_changed =
          !is_again && key > 0 && key < request.size() && all_.filters().forget_changed(request[key], why);
      if (!is_changed) return reply_.error(text_of_current_exception());
    } catch (...) {
      output_.resize(before);
      return reply_.error(text_of_current_exception());
    }
}

}  // namespace everseen::server
