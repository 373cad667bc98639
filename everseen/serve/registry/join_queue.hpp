#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "everseen/serve/base/key_batch.hpp"
#include "everseen/serve/base/worker_pool.hpp"
#include "everseen/serve/registry/judge_batch.hpp"

namespace everseen::serve {

/// Joins the requests of many clients about one filter into few batches.
///
/// For a store that answers after a round trip or a sync: while batches are in flight, new ones wait here
/// and are then sent together. So batches grow with the load, and no request waits for others on an idle
/// server. Several batches may be in flight, to keep the store busy while answers are read. Batches of
/// different clients are unordered, here as elsewhere.
/// Threads: any number.
class join_queue {
 public:
  struct limits {
    std::size_t keys = 16'384;  ///< in one joined batch, unless a single client's has more
    unsigned at_once = 2;       ///< batches in flight
  };

  /// @param source  outlives the queue, which `owner` of submit() ensures
  join_queue(counted_filter source, question q, worker_pool& workers, limits l)
      : filter_(source), question_(q), workers_(workers), limits_(l) {}

  /// Judges a batch and calls `done`, on another thread. If memory runs out, the process ends.
  /// @param when  for a filter with a window: the time of all its keys
  /// @param owner  keeps this queue alive until the batch is done
  void submit(key_batch& batch, std::optional<event_time> when, std::function<void()> done,
              std::shared_ptr<void> owner) noexcept;

 private:
  struct waiting {
    key_batch* batch;
    std::optional<event_time> when;
    std::function<void()> done;
  };
  void run();
  [[nodiscard]] bool fits(const waiting& next, std::size_t keys) const;
  [[nodiscard]] std::vector<waiting> take();
  void judge(std::vector<waiting>& together);

  const counted_filter filter_;
  const question question_;
  worker_pool& workers_;
  const limits limits_;
  std::mutex lock_{};
  std::vector<waiting> waiting_{};
  unsigned in_flight_ = 0;
};

}  // namespace everseen::serve
