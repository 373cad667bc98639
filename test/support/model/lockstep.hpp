#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/spec/window.hpp"

#include "test/support/binomial.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen::test {

/// A filter and an exact set, driven in lockstep.
///
/// Every verdict is checked against the set: a key that the filter must remember is `seen`, a key older than
/// the window is `late`, any other is `fresh` or, at most as often as the error rate allows, `seen`.
class lockstep {
 public:
  explicit lockstep(std::shared_ptr<stored_filter> filter)
      : filter_(std::move(filter)), newest_(filter_->batch_partitions()) {}

  [[nodiscard]] stored_filter& filter() noexcept { return *filter_; }

  /// Continues with the same keys in another view of the filter, such as a restored copy. Empty: closes it.
  void continue_with(std::shared_ptr<stored_filter> filter) { filter_ = std::move(filter); }

  void add(std::span<const digest> keys, event_time time = {}) {
    const answers got = add_keys(*filter_, keys, time);
    ASSERT_TRUE(got.result) << got.result.error().message;
    tally expected;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      judge(keys[i], time, got.verdicts[i]);
      if (got.verdicts[i] == verdict::fresh) remembered_[{keys[i].low, keys[i].high}] = slice_of(time);
      if (got.verdicts[i] != verdict::late) note_newest(keys[i], time);
      count(expected, got.verdicts[i]);
    }
    EXPECT_EQ(*got.result, expected);
  }

  void check(std::span<const digest> keys, event_time time = {}) {
    const answers got = check_keys(*filter_, keys, time);
    ASSERT_TRUE(got.result) << got.result.error().message;
    for (std::size_t i = 0; i < keys.size(); ++i) judge(keys[i], time, got.verdicts[i]);
  }

  /// The set's answer alone: must the filter say `seen`?
  [[nodiscard]] bool must_remember(const digest& d, event_time time) const {
    const auto found = remembered_.find({d.low, d.high});
    return found != remembered_.end() && found->second >= oldest_live(d, time);
  }

  [[nodiscard]] std::uint64_t false_positives() const noexcept { return false_positives_; }

  /// Called at the end: checks that the filter kept its promised error rate.
  void expect_error_rate() const {
    EXPECT_LE(false_positives_, binomial_bound(strangers_, filter_->get_spec().error_rate))
        << "of " << strangers_ << " keys never added";
  }

 private:
  using key = std::pair<std::uint64_t, std::uint64_t>;

  [[nodiscard]] window::slice_index slice_of(event_time time) const {
    const auto& w = filter_->get_spec().window;
    return w ? window::slice_at(*w, time) : window::timeless;
  }
  [[nodiscard]] std::optional<window::slice_index>& newest_for(const digest& d) {
    return newest_[partition_of(d, static_cast<std::uint32_t>(newest_.size()))];
  }
  [[nodiscard]] window::slice_index oldest_live(const digest& d, event_time time) const {
    const auto& w = filter_->get_spec().window;
    if (!w) return window::timeless;
    const auto newest = newest_[partition_of(d, static_cast<std::uint32_t>(newest_.size()))];
    return window::oldest_live(*w, std::max(slice_of(time), newest.value_or(slice_of(time))));
  }
  void note_newest(const digest& d, event_time time) {
    auto& newest = newest_for(d);
    newest = std::max(newest.value_or(slice_of(time)), slice_of(time));
  }

  void judge(const digest& d, event_time time, verdict got) {
    if (filter_->get_spec().window && slice_of(time) < oldest_live(d, time)) {
      EXPECT_EQ(got, verdict::late);
    } else if (must_remember(d, time)) {
      EXPECT_EQ(got, verdict::seen) << "a key was forgotten";
    } else {
      EXPECT_TRUE(got == verdict::fresh || got == verdict::seen) << to_string(got);
      ++strangers_;
      false_positives_ += got == verdict::seen;
    }
  }

  static void count(tally& sum, verdict v) {
    sum += {v == verdict::fresh, v == verdict::seen, v == verdict::late, v == verdict::unknown};
  }

  std::shared_ptr<stored_filter> filter_;
  std::vector<std::optional<window::slice_index>> newest_;  // of each partition that callers know
  std::map<key, window::slice_index> remembered_;
  std::uint64_t strangers_ = 0;
  std::uint64_t false_positives_ = 0;
};

}  // namespace everseen::test
