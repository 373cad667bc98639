#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "everseen/filter/scatter.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen {

/// The events of a claim before they are sorted by partition. Positions ascend.
struct unsorted_claim {
  std::span<const digest> digests;
  std::span<const event_time> times;  ///< empty, one for all, or one a key
  std::span<const std::uint64_t> positions;
  increments counts;
};

/// Sorts the events of a claim by partition and brings the verdicts back into their order.
///
/// Keeps its memory between claims. Threads: one at a time.
class claim_scatter {
 public:
  /// One batch for each partition that occurs. Valid until the next call; the spans given here must live as
  /// long. Every verdict is `unknown` until a ledger has written it.
  [[nodiscard]] std::span<const claim_batch> sort(const unsorted_claim& events, std::uint32_t partitions);

  /// Where event i of what was sorted has its answers: verdict, and 1 where it was claimed before.
  /// @param verdicts, claimed_before  one an event
  void gather(std::span<verdict> verdicts, std::span<std::uint8_t> claimed_before) const noexcept;

 private:
  void move(const unsorted_claim& events);

  scatter keys_;
  std::vector<claim_batch> batches_;
  std::vector<std::uint64_t> positions_;
  std::vector<std::uint32_t> of_event_;
  std::vector<verdict> verdicts_;  // where scatter writes them in the order of the events; not used
  std::vector<std::uint8_t> claimed_before_;
};

}  // namespace everseen
