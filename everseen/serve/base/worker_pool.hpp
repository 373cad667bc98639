#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace everseen::serve {

/// Threads for work that may wait for a disk or a server, so that the threads of connections never do.
///
/// Work starts in order of arrival. Threads: any may submit.
class worker_pool {
 public:
  /// @param after_each  called on the pool's thread after each work item; must not throw
  explicit worker_pool(unsigned threads, std::function<void()> after_each = {});
  ~worker_pool() { finish(); }
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// Finishes what was submitted, and what that submits. Nothing may be submitted afterwards.
  void finish();

  /// If memory runs out, here or in `work`, the process ends: others wait for its result.
  /// @param work  must not throw
  void submit(std::function<void()> work) noexcept;

 private:
  void run();

  const std::function<void()> after_each_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace everseen::serve
