#pragma once

#include "everseen/core/base/error.hpp"

namespace everseen {

// Whether the store gave no answer. One that says that a filter is missing, expired, dropped or damaged has
// answered.

/// A storage_error without errno is about a filter that is gone or is being replaced.
[[nodiscard]] inline bool is_outage(const error& why) noexcept {
  if (const auto* disk = dynamic_cast<const storage_error*>(&why)) return disk->code() != 0;
  return dynamic_cast<const backend_error*>(&why) != nullptr;
}

[[nodiscard]] inline bool is_outage(const batch_failure& failure) noexcept {
  return failure.why == batch_failure::cause::backend ||
         (failure.why == batch_failure::cause::storage && failure.code != 0);
}

}  // namespace everseen
