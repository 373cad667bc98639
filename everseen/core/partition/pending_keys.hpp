#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/kernel/kernels.hpp"
#include "everseen/core/partition/slice_groups.hpp"

namespace everseen {

/// Keys without a verdict yet, on their way through the segments.
///
/// Each segment judges the keys that it holds; the others are compacted for the next kernel call. Keys that
/// meet only one segment, the usual case, are judged in place without a copy.
class pending_keys {
 public:
  static constexpr std::size_t max_keys = slice_groups::max_keys;

  /// @param places  where in `out` each key's verdict goes; null: its own index
  explicit pending_keys(std::span<const digest> keys, verdict* out,
                        const std::uint16_t* places = nullptr) noexcept
      : pending_(keys), where_(places), out_(out) {
    EVERSEEN_ASSERT(keys.size() <= max_keys);
  }

  [[nodiscard]] std::span<const digest> pending() const noexcept { return pending_; }
  [[nodiscard]] const std::uint16_t* places() const noexcept { return where_; }
  [[nodiscard]] std::size_t place(std::size_t i) const noexcept { return where_ == nullptr ? i : where_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }

  /// Marks the keys that the segment holds as seen.
  void look_up(const std::byte* segment, const geometry& shape) noexcept {
    if (pending_.empty()) return;
    const std::uint64_t missing = best_kernel().check(segment, shape, pending_, judged_.data());
    if (missing < pending_.size()) keep_fresh();
  }

  /// Adds the first `count` keys and stores their verdicts. Returns the number of fresh ones.
  std::uint64_t add(std::byte* segment, const geometry& shape, std::size_t count) noexcept {
    const auto keys = pending_.first(count);
    std::uint64_t added = 0;
    if (where_ == nullptr) {
      added = best_kernel().add(segment, shape, keys, out_);
      out_ += count;
    } else {
      added = best_kernel().add(segment, shape, keys, judged_.data());
      for (std::size_t i = 0; i < count; ++i) out_[where_[i]] = judged_[i];
      where_ += count;
    }
    pending_ = pending_.subspan(count);
    fresh_ += added;
    return added;
  }

  /// Marks the keys whose places are late.
  template <typename IsLate>
  void mark_late(IsLate is_late) noexcept {
    bool any = false;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      judged_[i] = is_late(place(i)) ? verdict::late : verdict::fresh;
      any = any || judged_[i] == verdict::late;
    }
    if (any) keep_fresh();
  }

  /// Gives all remaining keys the same verdict.
  void mark_rest(verdict v) noexcept {
    for (std::size_t i = 0; i < pending_.size(); ++i) out_[place(i)] = v;
    if (v == verdict::fresh) fresh_ += pending_.size();
    pending_ = {};
  }

 private:
  /// Stores the verdicts that are not fresh, and keeps the other keys.
  void keep_fresh() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto target = static_cast<std::uint16_t>(place(i));
      out_[target] = judged_[i] == verdict::fresh ? verdict::unknown : judged_[i];
      kept_[kept] = pending_[i];
      kept_where_[kept] = target;
      kept += judged_[i] == verdict::fresh;  // no branch: repeats are unpredictable
    }
    pending_ = {kept_.data(), kept};
    where_ = kept_where_.data();
  }

  std::span<const digest> pending_;  // in the caller's batch, or in kept_ once a key was judged
  const std::uint16_t* where_;       // place in out_ of each pending key; null: its own index
  verdict* out_;
  std::uint64_t fresh_ = 0;
  std::array<verdict, max_keys> judged_;  // the arrays stay uninitialised, since writing
  std::array<digest, max_keys> kept_;     // them would cost as much as judging
  std::array<std::uint16_t, max_keys> kept_where_;
};

}  // namespace everseen
