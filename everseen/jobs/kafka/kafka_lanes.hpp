#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/jobs/port/source.hpp"

namespace everseen {

/// Which partitions a worker has, and how far each was handed out and settled.
///
/// The reading thread adds and loses lanes, the settling thread settles them. This is their shared state.
/// Threads: any number.
class kafka_lanes {
 public:
  /// Which record of progress determines where a lane begins.
  enum class start_decider : std::uint8_t { job, group };
  /// The worker has got the lane, and reads it from here.
  void begin(const std::string& lane, std::uint64_t from, start_decider decider = start_decider::job);
  /// Where a lane begins if the group had an offset for it.
  [[nodiscard]] std::optional<std::uint64_t> start_by_group(std::string_view lane) const;
  /// Its unclaimed batches must not be claimed. What was claimed may still be settled.
  void lose(std::string_view lane);
  void forget(std::string_view lane);

  [[nodiscard]] source::ownership ownership_of(std::string_view lane, std::uint64_t generation) const;

  /// The generation in which a batch was handed out: a generation lasts from one begin() of the lane to the
  /// next.
  struct generation_given {
    std::uint64_t number = 0;
    bool begins = false;  ///< the batch is the first of its generation
  };
  /// Records that a batch of the lane is handed out.
  generation_given give(std::string_view lane, std::uint64_t next);
  void settle(std::string_view lane, std::uint64_t position);
  void abandon(const source_batch& batch);

  /// Waits until every batch of these lanes that was handed out is settled or abandoned.
  /// @return false  not within `limit`
  bool wait_until_idle(std::span<const std::string> lanes, std::chrono::milliseconds limit) const;

  struct progress {
    std::string lane;
    std::uint64_t position;
  };
  /// Settled positions that are not known to be committed.
  [[nodiscard]] std::vector<progress> uncommitted() const;
  void committed(std::string_view lane, std::uint64_t position);

  /// How far each lane was handed out.
  [[nodiscard]] std::vector<progress> given() const;

 private:
  struct state {
    std::uint64_t generation = 0;
    std::optional<std::uint64_t> start_by_group{};
    bool mine = true;
    bool untouched = true;  // nothing was handed out since begin()
    std::uint64_t given = 0;
    std::deque<std::uint64_t> under_way{};  // the ends of the batches that are handed out
    std::uint64_t settled = 0;
    std::uint64_t committed = 0;
  };

  [[nodiscard]] bool is_idle(std::string_view lane) const;

  mutable std::mutex mutex_{};
  mutable std::condition_variable changed_{};
  std::map<std::string, state, std::less<>> lanes_{};
  std::uint64_t generations_ = 0;
};

}  // namespace everseen
