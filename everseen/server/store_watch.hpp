#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "everseen/server/filter_shelf.hpp"
#include "everseen/server/worker_pool.hpp"

namespace everseen::server {

/// One look for all who want it: begun by who comes first, and waited for a moment at most.
/// Threads: any number.
class shared_look {
 public:
  /// @param look  runs on a thread of `where`, once at a time; must not throw
  shared_look(worker_pool& where, std::function<void()> look) : where_(where), look_(std::move(look)) {}

  /// Begins to look, if nobody does.
  void begin();
  /// Looks. Who comes while a look takes longer than a moment does not wait for it.
  /// @return whether a look ended meanwhile
  bool refresh();

 private:
  using clock = std::chrono::steady_clock;
  void begin_alone();

  worker_pool& where_;
  const std::function<void()> look_;
  std::mutex lock_{};
  std::condition_variable ended_{};
  bool is_under_way_ = false;
  clock::time_point began_{};
};

/// Looks at the store for those who only ask how it is: in an outage they are told what is known, and soon.
///
/// It has threads of its own, as those of the worker pool may all be waiting for the store.
/// Threads: any number.
class store_watch {
 public:
  /// @param after_each  as of worker_pool
  store_watch(filter_shelf& filters, unsigned threads, std::function<void()> after_each);

  /// Makes the figures of open filters be of this second, if the store answers in time.
  void look_at_filters() { (void)figures_.refresh(); }
  /// @throws backend_error  the store does not answer, or not in time
  void must_answer();

  /// The store was away when the server started. Once it answers, its warnings and that go to the log.
  void await_store(std::shared_ptr<telemetry::event_log> log);
  /// To be called some times a second; returns at once.
  void look_for_store();

 private:
  void probe() noexcept;
  void greet();

  filter_shelf& filters_;
  std::mutex lock_{};
  std::string fault_{};
  std::atomic<bool> awaits_ = false;
  std::shared_ptr<telemetry::event_log> log_{};
  shared_look figures_;
  shared_look probe_;
  worker_pool lookers_;  // ends first
};

}  // namespace everseen::server
