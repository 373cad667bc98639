#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/partition/partition.hpp"

// Results of batches, as all stores report them.
namespace everseen {

/// The result of batches by the verdicts that they have got.    @param failure  why some keys are `unknown`
[[nodiscard]] inline batch_result answered(std::span<const partition_batch> batches,
                                           std::optional<batch_failure> failure) {
  tally done;
  for (const partition_batch& batch : batches) done += tally_of(batch.out);
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
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

}  // namespace everseen
