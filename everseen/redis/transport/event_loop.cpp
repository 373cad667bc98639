#include "everseen/redis/transport/event_loop.hpp"

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "everseen/core/base/assert.hpp"

namespace everseen::redis {

namespace asio = boost::asio;

event_loop::event_loop() : context_(std::make_unique<asio::io_context>(1)) {}
event_loop::~event_loop() = default;

void event_loop::run_one() {
  context_->restart();
  [[maybe_unused]] const std::size_t handled = context_->run_one();
  EVERSEEN_ASSERT(handled == 1);
}

void event_loop::poll() {
  context_->restart();
  context_->poll();
}

struct timer::state {
  explicit state(asio::io_context& context) : clock(context) {}
  asio::steady_timer clock;
  std::function<void()> then{};
  std::uint64_t starts = 0;  // a handler of an earlier start may be queued already and must do nothing
};

timer::timer(event_loop& loop) : state_(std::make_shared<state>(loop.context())) {}
timer::~timer() {
  stop();
}

void timer::start(std::chrono::nanoseconds after, std::function<void()> then) {
  state_->then = std::move(then);
  const std::uint64_t starts = ++state_->starts;
  state_->clock.expires_after(after);
  state_->clock.async_wait([s = state_, starts](const boost::system::error_code&) {
    if (starts == s->starts) std::exchange(s->then, nullptr)();
  });
}

void timer::stop() noexcept {
  if (!state_->then) return;
  ++state_->starts;
  state_->then = nullptr;
  boost::system::error_code ignored;
  state_->clock.cancel(ignored);
}

}  // namespace everseen::redis
