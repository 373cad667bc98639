#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/digest.hpp"
#include "everseen/core/error.hpp"
#include "everseen/core/spec.hpp"
#include "everseen/core/verdict.hpp"

namespace everseen {

/// Hashes keys and leaves out those that a filter cannot take, so that the others are judged as if they had
/// come alone.
///
/// Where a funnel takes every key, as nearly all do, nothing is moved. Keeps its memory between batches.
/// Threads: one at a time.
class fitting_keys {
 public:
  struct batch {
    std::span<const std::string_view> keys;
    std::span<const event_time> times;
    std::span<verdict> out;
  };

  /// @param all  times: none, one for all, or one a key; the spans must live until give_back()
  void take(const hasher& hash, const batch& all);

  /// Those that fit, in their order, and where their verdicts go. Valid until the next take().
  [[nodiscard]] std::span<const digest> digests() const noexcept { return digests_; }
  [[nodiscard]] const batch& fitting() const noexcept { return fitting_; }

  /// Brings the verdicts to where their keys stood. The keys left out are unknown, and in the result.
  [[nodiscard]] batch_result give_back(batch_result judged);

 private:
  void leave_out_misfits();

  batch all_;
  batch fitting_;
  std::vector<digest> digests_;
  std::vector<std::uint32_t> misfits_;  // their places, ascending
  std::string refusal_;                 // of the first
  std::vector<std::string_view> keys_;
  std::vector<event_time> times_;
  std::vector<verdict> verdicts_;
};

}  // namespace everseen
