#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "everseen/server/judging.hpp"
#include "everseen/server/key_batch.hpp"
#include "everseen/server/worker_pool.hpp"

namespace everseen::server {

/// Joins what many clients ask of one filter at one moment into few batches.
///
/// For a store that answers after a round trip or a sync: while batches are on their way, those that come
/// wait here, and leave together. So the busier the server is, the larger its batches are, and nobody waits
/// for company when it is not. Several batches may be on their way at once, to keep the store busy while
/// answers are read. Batches of different clients have no order among each other, nor have they one here.
/// Threads: any number.
class join_queue {
 public:
  struct limits {
    std::size_t keys = 16'384;  ///< of one joined batch, unless a single client's has more
    unsigned at_once = 2;       ///< batches on their way
  };

  /// @param of  outlives the queue, as `owner` of submit() sees to
  join_queue(noted_filter of, question q, worker_pool& workers, limits l)
      : filter_(of), question_(q), workers_(workers), limits_(l) {}

  /// Judges a batch and calls `done`, on another thread. Where memory runs out on the way the process ends.
  /// @param when  for a filter with a window: the time of all its keys
  /// @param owner  keeps this queue until it needs to no more
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

  const noted_filter filter_;
  const question question_;
  worker_pool& workers_;
  const limits limits_;
  std::mutex lock_{};
  std::vector<waiting> waiting_{};
  unsigned on_their_way_ = 0;
};

}  // namespace everseen::server
