// Results of batches, as all stores report them.

#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen {

/// @param done  counts all keys    @param failure  why some of them are `unknown`
[[nodiscard]] inline batch_result result_of(const tally& done, std::optional<batch_failure> failure) {
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

/// The result of batches by the verdicts that they have got.    @param failure  why some keys are `unknown`
[[nodiscard]] inline batch_result answered(std::span<const partition_batch> batches,
                                           std::optional<batch_failure> failure) {
  tally done;
  for (const partition_batch& batch : batches) done += tally_of(batch.out);
  return result_of(done, std::move(failure));
}

/// A failure without any answers: all keys become `unknown`.
[[nodiscard]] inline batch_result unanswered(std::span<const partition_batch> batches,
                                             batch_failure::cause why, std::string message) {
  batch_failure failure;
  failure.why = why;
  failure.message = std::move(message);
  for (const partition_batch& batch : batches) {
    std::fill(batch.out.begin(), batch.out.end(), verdict::unknown);
    failure.done.unknown += batch.out.size();
  }
  return tl::unexpected(std::move(failure));
}

// Claim helpers shared by the ledgers of all stores.

/// The initial state: every event is `unknown` and not claimed before.
inline void forget_verdicts(std::span<const claim_batch> batches) {
  for (const claim_batch& batch : batches) {
    std::ranges::fill(batch.keys.out, verdict::unknown);
    std::ranges::fill(batch.claimed_before, std::uint8_t{0});
  }
}

/// The batch without its first `from` events.
[[nodiscard]] inline claim_batch rest_of(const claim_batch& all, std::size_t from) {
  claim_batch left = all;
  left.keys.digests = all.keys.digests.subspan(from);
  left.keys.out = all.keys.out.subspan(from);
  if (all.keys.times.size() > 1) left.keys.times = all.keys.times.subspan(from);
  if (!all.keys.keys.empty()) left.keys.keys = all.keys.keys.subspan(from);
  left.positions = all.positions.subspan(from);
  left.claimed_before = all.claimed_before.subspan(from);
  left.counts.of_event = all.counts.of_event.subspan(from * all.counts.per_event);
  return left;
}

/// Gives events that the record has judged their first verdicts, and keeps the others in `batch`. Positions
/// ascend, so the judged events come first.
/// @param has_left  whether the window has left a point in time
template <typename HasLeft>
void answer_replays(claim_batch& batch, const lane_record& record, HasLeft has_left) {
  std::size_t judged = 0;
  while (judged < batch.positions.size() && record.has_judged(batch.positions[judged])) {
    const auto& times = batch.keys.times;
    verdict v = verdict::fresh;
    if (!record.was_fresh(batch.positions[judged])) {
      const bool late = !times.empty() && has_left(times[times.size() == 1 ? 0 : judged]);
      v = late ? verdict::late : verdict::seen;
    }
    batch.keys.out[judged] = v;
    batch.claimed_before[judged] = 1;
    ++judged;
  }
  batch = rest_of(batch, judged);
}

/// The sum over all batches, or why some events have no verdict.
[[nodiscard]] inline batch_result claims_result(std::span<const claim_batch> batches,
                                                std::optional<batch_failure> failure) {
  tally done;
  for (const claim_batch& batch : batches) done += tally_of(batch.keys.out);
  return result_of(done, std::move(failure));
}

[[nodiscard]] inline batch_failure read_only_claim() {
  return {batch_failure::cause::storage,
          "the filter was opened for reading; open it for writing to claim events",
          {}};
}

}  // namespace everseen
