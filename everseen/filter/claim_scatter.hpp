#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "everseen/store/port/ledger.hpp"

namespace everseen {

/// Sorts the events of a claim by partition and returns the answers to the order of the events.
///
/// The sort is stable. Memory is reused between claims. Threads: one at a time.
class claim_scatter {
 public:
  /// The events of a claim. Each span has one entry per event; `times` may also be empty or hold one time for
  /// all.
  struct events {
    std::span<const digest> digests;
    std::span<const std::uint64_t> positions;
    std::span<const event_time> times;
    increments counts{};
  };

  /// Valid until the next call. The data that the spans refer to must live as long.
  [[nodiscard]] std::span<const claim_batch> sort(const events& all, std::uint32_t partitions);

  /// Copies the answers back into the order of the events.    @pre both spans have one entry per event
  void gather(std::span<verdict> verdicts, std::span<std::uint8_t> claimed_before) const;

 private:
  std::vector<claim_batch> batches_{};
  std::vector<std::uint32_t> next_{};  // per partition: index of its next event
  std::vector<std::uint32_t> partition_of_{};
  std::vector<std::uint32_t> origin_{};  // original index of each sorted event
  std::vector<digest> digests_{};
  std::vector<std::uint64_t> positions_{};
  std::vector<event_time> times_{};
  std::vector<std::uint32_t> counters_{};
  std::vector<verdict> verdicts_{};
  std::vector<std::uint8_t> before_{};
};

}  // namespace everseen
