#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
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

  /// Looks. Who comes while a look takes longer than a moment does not wait for it.
  /// @return whether a look ended meanwhile
  bool refresh();

 private:
  using clock = std::chrono::steady_clock;
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

 private:
  void probe() noexcept;

  filter_shelf& filters_;
  std::mutex lock_{};
  std::string fault_{};
  shared_look figures_;
  shared_look probe_;
  worker_pool lookers_;  // ends first
};

}  // namespace everseen::server
