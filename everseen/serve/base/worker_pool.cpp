#include "everseen/serve/base/worker_pool.hpp"

#include <utility>

namespace everseen::serve {

worker_pool::worker_pool(unsigned threads, std::function<void()> after_each)
    : after_each_(std::move(after_each)) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void worker_pool::finish() {
  {
    const std::scoped_lock alone(lock_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& each : threads_) each.join();
  threads_.clear();
}

void worker_pool::submit(std::function<void()> work) noexcept {
  {
    const std::scoped_lock alone(lock_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void worker_pool::run() {
  std::unique_lock alone(lock_);
  for (;;) {
    changed_.wait(alone, [this] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    {
      // Destroyed without the lock: it may hold the last reference to a filter, which takes a while to
      // close.
      const auto work = std::move(waiting_.front());
      waiting_.pop_front();
      alone.unlock();
      work();
      if (after_each_) after_each_();
    }
    alone.lock();
  }
}

}  // namespace everseen::serve
