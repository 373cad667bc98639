#pragma once

#include "everseen/core/error.hpp"

namespace everseen::server {

// Whether the store did not do its part. That a filter is not there, has ended, was dropped or is damaged is
// no outage: the store has answered.

/// A storage_error without errno is of a filter that is gone or changes hands.
[[nodiscard]] inline bool is_outage(const error& why) noexcept {
  if (const auto* disk = dynamic_cast<const storage_error*>(&why)) return disk->code() != 0;
  return dynamic_cast<const backend_error*>(&why) != nullptr;
}

[[nodiscard]] inline bool is_outage(const batch_failure& failure) noexcept {
  return failure.why == batch_failure::cause::backend ||
         (failure.why == batch_failure::cause::storage && failure.code != 0);
}

}  // namespace everseen::server
