#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Hashes keys and leaves out those that the filter cannot take. The others are judged as if they were the
/// whole batch.
///
/// If the funnel takes every key, as most do, nothing is copied. Memory is reused between batches.
/// Threads: one at a time.
class fitting_keys {
 public:
  struct batch {
    std::span<const std::string_view> keys;
    std::span<const event_time> times;
    std::span<verdict> out;
  };

  /// @param all  times: none, one for all, or one per key; the spans must live until give_back()
  void take(const hasher& hash, const batch& all);

  /// The keys that fit, in order, and where their verdicts go. Valid until the next take().
  [[nodiscard]] std::span<const digest> digests() const noexcept { return {digests_.data(), count_}; }
  [[nodiscard]] const batch& fitting() const noexcept { return fitting_; }

  /// Copies the verdicts back into the order of the keys. Keys left out are `unknown`, and counted in the
  /// result.
  [[nodiscard]] batch_result give_back(batch_result judged);

 private:
  void leave_out_misfits();

  batch all_;
  batch fitting_;
  std::vector<digest> digests_;  // the first count_ are valid; never shrinks, since growing writes zeros
  std::size_t count_ = 0;
  std::vector<std::uint32_t> misfits_;  // their indexes, ascending
  std::string refusal_;                 // of the first one
  std::vector<std::string_view> keys_;
  std::vector<event_time> times_;
  std::vector<verdict> verdicts_;
};

}  // namespace everseen
