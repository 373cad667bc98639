#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "everseen/serve/base/worker_pool.hpp"
#include "everseen/serve/registry/filter_registry.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/telemetry/event_log.hpp"

namespace everseen::serve {

/// A single-flight check: the first caller starts it, all callers share it, and wait for a moment at most.
/// Threads: any number.
class shared_check {
 public:
  /// @param look  runs on a thread of `where`, one at a time; must not throw
  shared_check(worker_pool& where, std::function<void()> look) : where_(where), look_(std::move(look)) {}

  /// Starts a check unless one is running.
  void begin();
  /// Runs a check. A caller does not wait for one that has already taken longer than a moment.
  /// @return whether a check completed in the meantime
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

/// Checks the store for callers that only ask for its state: in an outage they quickly get what is known.
///
/// It has its own threads, as those of the worker pool may all be waiting for the store.
/// Threads: any number.
class store_health {
 public:
  /// @param after_each  as of worker_pool
  store_health(filter_registry& filters, unsigned threads, std::function<void()> after_each);

  /// Refreshes the figures of open filters, if the store answers in time.
  void refresh_figures() { (void)figures_.refresh(); }
  /// @throws backend_error  the store does not answer, or not in time
  void must_answer();

  /// The store was unavailable when the server started. Once it answers, logs that and its warnings.
  void await_store(std::shared_ptr<telemetry::event_log> log);
  /// Called several times a second; does not wait.
  void poll_store();

 private:
  void probe() noexcept;
  void greet();

  filter_registry& filters_;
  std::mutex lock_{};
  std::string fault_{};
  std::atomic<bool> awaits_ = false;
  std::shared_ptr<telemetry::event_log> log_{};
  shared_check figures_;
  shared_check probe_;
  worker_pool check_pool_;  // destroyed first
};

/// Asks a store once before it is served, and writes its warnings to the log.
/// @param log  null: no log
/// @return false  it is unavailable, which is accepted: the server retries while it serves
/// @throws error  a permanent error, such as a wrong password
[[nodiscard]] bool is_available(store& place, telemetry::event_log* log);

/// @throws backend_error  the store does not answer
void log_warnings(const store& source, telemetry::event_log* log);

}  // namespace everseen::serve
