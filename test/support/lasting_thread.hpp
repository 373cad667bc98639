#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

namespace everseen::test {

/// A thread that lives as long as the test program.
///
/// For child processes that must end with the program: the kernel ends them with the thread that created
/// them, and a test's own thread may end earlier.
class lasting_thread {
 public:
  static lasting_thread& get() {
    static lasting_thread one;
    return one;
  }

  /// Runs `task` on the thread and waits for it. Threads: any.
  void run(const std::function<void()>& task) {
    std::packaged_task<void()> packed(task);
    auto done = packed.get_future();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !task_.valid(); });
    task_ = std::move(packed);
    lock.unlock();
    changed_.notify_all();
    done.get();
  }

 private:
  lasting_thread() = default;
  ~lasting_thread() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void work() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return ended_ || task_.valid(); });
      if (ended_) return;
      std::exchange(task_, {})();
      changed_.notify_all();
    }
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::packaged_task<void()> task_{};
  bool ended_ = false;
  std::thread thread_{[this] { work(); }};
};

}  // namespace everseen::test
