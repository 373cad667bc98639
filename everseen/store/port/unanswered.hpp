#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "everseen/core/partition/partition.hpp"

namespace everseen {

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
