#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// The keys of a batch that belong to one partition, and where their verdicts go.
struct partition_batch {
  std::uint32_t partition = 0;
  std::span<const digest> digests;
  /// One time per key, or one for all. Ignored (and may be empty) without a window.
  std::span<const event_time> times;
  std::span<verdict> out;  ///< as many as digests
  /// The keys themselves, one per digest, for a store that wants them (stored_filter::wants_keys); else
  /// empty.
  std::span<const std::string_view> keys{};
};

}  // namespace everseen
