#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"

namespace everseen {

/// Batches for one number of partitions, regrouped for another: the next generation of a filter may be
/// partitioned differently. Equal keys keep their order, since they always share a partition.
///
/// The digests, times, keys and verdicts of the original batches must outlive this. Threads: one at a time.
class regrouped {
 public:
  enum class which : std::uint8_t {
    all,
    unknown,  ///< keys without a verdict
  };
  /// @param timed  whether the filter has a window, so that times matter
  regrouped(std::span<const partition_batch> batches, std::uint32_t partitions, bool timed,
            which keys = which::all);

  [[nodiscard]] std::span<const partition_batch> batches() const noexcept { return batches_; }

  /// Copies the verdicts to the original batches.
  void give_back() const noexcept;

 private:
  struct group {
    std::vector<digest> digests;
    std::vector<event_time> times;
    std::vector<verdict> verdicts;
    std::vector<std::string_view> keys;  // if the filter wants them
    std::vector<verdict*> wanted_at;
  };

  std::vector<group> groups_;
  std::vector<partition_batch> batches_;
};

}  // namespace everseen
