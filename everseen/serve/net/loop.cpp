#include <vector>

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "everseen/serve/net/asio_loop.hpp"

namespace everseen::serve {

loop::loop()
    : work_(context_.get_executor()), timer_(context_), thread_([this] {
        tick();
        run();
      }) {}

loop::~loop() {
  finish();
}

/// A system error on one connection ends only that handler. If memory runs out, the process ends: others may
/// wait for work that was half done.
void loop::run() {
  for (;;) try {
      context_.run();
      return;
    } catch (const boost::system::system_error&) {
    }
}

void loop::tick() {
  timer_.expires_after(std::chrono::milliseconds(is_draining_ ? 50 : 1000));
  timer_.async_wait([this](boost::system::error_code fault) {
    // A timer that has already expired cannot be cancelled.
    if (fault || has_finished_) return;
    tick();
    const auto current = connection::clock::now();
    std::vector<std::shared_ptr<connection>> all;  // the check may remove it from connections_
    for (const auto& [raw, weak] : connections_)
      if (auto c = weak.lock()) all.push_back(std::move(c));
    for (const auto& each : all) each->look_at_clock(current);
  });
}

void loop::add(const std::shared_ptr<connection>& c) {
  connections_.emplace(c.get(), c);
}

void loop::for_each(void (connection::*what)()) {
  std::vector<std::shared_ptr<connection>> all;
  for (const auto& [raw, weak] : connections_)
    if (auto c = weak.lock()) all.push_back(std::move(c));
  for (const auto& each : all) (each.get()->*what)();
}

void loop::drain() {
  boost::asio::post(context_, [this] {
    is_draining_ = true;
    for_each(&connection::drain);
    tick();
  });
}

void loop::close_all() {
  boost::asio::post(context_, [this] { for_each(&connection::close); });
}

void loop::finish() {
  if (!thread_.joinable()) return;
  boost::asio::post(context_, [this] {
    has_finished_ = true;
    timer_.cancel();
    work_.reset();
  });
  thread_.join();
}

}  // namespace everseen::serve
