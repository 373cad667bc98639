#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "everseen/store/ledger.hpp"

namespace everseen {

/// Sorts the events of a claim by partition, each partition's in their order, and brings the answers back.
///
/// Keeps its memory between claims. Threads: one at a time.
class claim_scatter {
 public:
  /// What a claim is about, one of each an event but for `times`: none, one for all, or one an event.
  struct events {
    std::span<const digest> digests;
    std::span<const std::uint64_t> positions;
    std::span<const event_time> times;
    increments counts{};
  };

  /// Valid until the next call; what the spans refer to must live as long.
  [[nodiscard]] std::span<const claim_batch> sort(const events& all, std::uint32_t partitions);

  /// Copies the answers to where their events stood.    @pre both have one place an event
  void gather(std::span<verdict> verdicts, std::span<std::uint8_t> claimed_before) const;

 private:
  std::vector<claim_batch> batches_{};
  std::vector<std::uint32_t> next_{};  // per partition: where its next event goes
  std::vector<std::uint32_t> partition_of_{};
  std::vector<std::uint32_t> origin_{};  // place of each sorted event
  std::vector<digest> digests_{};
  std::vector<std::uint64_t> positions_{};
  std::vector<event_time> times_{};
  std::vector<std::uint32_t> counters_{};
  std::vector<verdict> verdicts_{};
  std::vector<std::uint8_t> before_{};
};

}  // namespace everseen
