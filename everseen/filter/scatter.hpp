#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/partition.hpp"

namespace everseen {

/// Sorts the digests of a batch by partition and brings the verdicts back into the keys' order.
///
/// Keeps its memory between batches. Cost: about 3 ns a key there and 1 ns back; none with one partition.
/// Threads: one at a time.
class scatter {
 public:
  /// The batches, one for each partition that occurs, keys in their order. Valid until the next call; the
  /// spans given here must live as long. `out` is written by gather().
  /// @param times  empty, one for all, or one a key
  /// @param keys   empty, or one a digest: for a filter that wants them
  [[nodiscard]] std::span<const partition_batch> sort(std::span<const digest> digests,
                                                      std::span<const event_time> times,
                                                      std::uint32_t partitions, std::span<verdict> out,
                                                      std::span<const std::string_view> keys = {});

  /// Copies the verdicts of the batches to where their keys stood in `out`.
  void gather() noexcept;

 private:
  void sort_many(std::span<const digest> digests, std::span<const event_time> times, std::uint32_t partitions,
                 std::span<const std::string_view> keys);

  std::vector<partition_batch> batches_;
  std::span<verdict> out_;
  std::vector<std::uint32_t> next_;  // per partition: where its next key goes
  std::vector<std::uint16_t> partition_of_;
  std::vector<digest> digests_;  // sorted by partition, stable
  std::vector<event_time> times_;
  std::vector<std::string_view> keys_;
  std::vector<std::uint32_t> origin_;  // place of each sorted key in the batch
  std::vector<verdict> verdicts_;
};

}  // namespace everseen
