#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/server/registry/refusals.hpp"
#include "everseen/server/resp/session.hpp"

/// How the requests of a session run: concurrently or alone, on this thread or on a worker.
namespace everseen::server {

namespace {

/// A request in which the names of filters stand for the keys of a database.
class named_request {
 public:
  /// @throws parameter_error  as in_database
  named_request(database_index database, const command& what, word_list request) : words_(request) {
    for (const std::size_t at : key_positions_of(what, request.size())) {
      std::string name = in_database(database, request[at]);
      if (name == request[at]) continue;
      if (replaced_.empty()) replaced_.assign(request.begin(), request.end());
      replaced_[at] = names_.emplace_back(std::move(name));
      words_ = replaced_;
    }
  }

  [[nodiscard]] word_list words() const noexcept { return words_; }

 private:
  std::deque<std::string> names_{};  // a deque, as views refer to them
  std::vector<std::string_view> replaced_{};
  word_list words_;
};

}  // namespace

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
  answer_if_wanted([&] {
    if (all_.stats().gives_up())
      reply_.error(being_stopped);
    else
      run_request(what, request);
  });
}

void session::run_request(const command& what, word_list request) {
  client_->last_command.store(what.name.data(), std::memory_order_relaxed);
  if (!has_database_ && !what.without_database)
    return reply_.error(
        "ERR this connection has no database, as SELECT was refused: there are 0 to 15; SELECT one of them "
        "to "
        "continue");
  const std::size_t before = output_.size();
  std::optional<named_request> named;
  for (bool is_again = false;; is_again = true) try {
      if (!named) named.emplace(database(), what, request);
      request = named->words();
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
