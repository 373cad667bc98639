#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/partition.hpp"

namespace everseen {

/// Batches of a filter with one number of partitions, as batches of one with another: its next generation may
/// be divided otherwise. Keys that are equal keep their order, as equal keys always share a partition.
///
/// The digests, times, keys and verdicts of the first batches must outlive this. Threads: one at a time.
class regrouped {
 public:
  enum class which : std::uint8_t {
    all,
    unknown,  ///< those that have no verdict yet
  };
  /// @param timed  whether the filter has a window, so that times matter
  regrouped(std::span<const partition_batch> batches, std::uint32_t partitions, bool timed,
            which keys = which::all);

  [[nodiscard]] std::span<const partition_batch> batches() const noexcept { return batches_; }

  /// Puts the verdicts where the first batches want them.
  void give_back() const noexcept;

 private:
  struct group {
    std::vector<digest> digests;
    std::vector<event_time> times;
    std::vector<verdict> verdicts;
    std::vector<std::string_view> keys;  // where the filter wants them
    std::vector<verdict*> wanted_at;
  };

  std::vector<group> groups_;
  std::vector<partition_batch> batches_;
};

}  // namespace everseen
