#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/store/port/stored_filter.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// A filter that gradually replaces an older one, which it also asks. A key that either filter has is `seen`;
/// keys are added only to the newer filter. After some time the newer filter has all keys still in use, and
/// the older one can be dropped.
///
/// The two may differ in hash, seed, partitions and layout; the older one may belong to another program. So
/// keys are hashed for each. The older filter is asked first: if it fails, nothing is added, and the batch
/// can be retried. Keys that a program adds to the older filter between the two steps are seen in the next
/// batch.
class linked_filter final : public stored_filter {
 public:
  /// @param name   the newer filter, for messages
  /// @param who    the older filter, opened as `asked`
  /// @param clock    the clock for the end of the link: read once per batch if the link ends
  linked_filter(std::string name, std::shared_ptr<stored_filter> newer, predecessor who,
                std::shared_ptr<stored_filter> asked, time_source clock);

  [[nodiscard]] const spec& get_spec() const noexcept override { return newer_->get_spec(); }
  [[nodiscard]] bool wants_keys() const noexcept override { return true; }
  batch_result add(std::span<const partition_batch> batches) override;
  [[nodiscard]] bool adds_after_effects() const noexcept override { return newer_->adds_after_effects(); }
  [[nodiscard]] bool is_rebuildable() const noexcept override { return newer_->is_rebuildable(); }
  batch_result add_after(std::span<const partition_batch> batches,
                         const std::function<bool()>& effect) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// This, visit_segments, merge and sync refer to the newer filter.
  [[nodiscard]] partition_state state(std::uint32_t partition) const override {
    return newer_->state(partition);
  }
  [[nodiscard]] bool estimates_keys() const noexcept override { return newer_->estimates_keys(); }
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override {
    newer_->visit_segments(partition, visit);
  }
  void merge(std::uint32_t partition, std::span<const sibling_segment> siblings, merging step) override {
    newer_->merge(partition, siblings, step);
  }
  void sync() override { newer_->sync(); }
  void ask_for_room(segment_room* room) override { newer_->ask_for_room(room); }
  [[nodiscard]] batch_path path() const override;
  /// A job needs a filter that judges alone, so there is none.
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;
  /// The filter that is asked first, even after the link has ended.
  [[nodiscard]] const stored_filter& older() const noexcept { return *older_; }

 private:
  struct question;
  [[nodiscard]] bool is_over() const { return who_.until && who_.is_over(clock_()); }
  [[nodiscard]] std::optional<batch_failure> ask_older(question& q) const;
  template <typename Judge>
  batch_result judge(std::span<const partition_batch> batches, Judge by_newer) const;

  std::string name_;
  std::shared_ptr<stored_filter> newer_;
  predecessor who_;
  std::shared_ptr<stored_filter> older_;
  time_source clock_;
  hasher hash_of_older_;
};

/// Batches for one number of partitions, regrouped for another: the next generation of a filter may be
/// partitioned differently. Equal keys keep their order, since they always share a partition.
///
/// The digests, times, keys and verdicts of the original batches must outlive this. Threads: one at a time.
class regrouped {
 public:
  enum class which : std::uint8_t {
    all,
    unknown,  ///< keys without a verdict
  };
  /// @param timed  whether the filter has a window, so that times matter
  regrouped(std::span<const partition_batch> batches, std::uint32_t partitions, bool timed,
            which keys = which::all);

  [[nodiscard]] std::span<const partition_batch> batches() const noexcept { return batches_; }

  /// Copies the verdicts to the original batches.
  void give_back() const noexcept;

 private:
  struct group {
    std::vector<digest> digests;
    std::vector<event_time> times;
    std::vector<verdict> verdicts;
    std::vector<std::string_view> keys;  // if the filter wants them
    std::vector<verdict*> wanted_at;
  };

  std::vector<group> groups_;
  std::vector<partition_batch> batches_;
};

}  // namespace everseen
