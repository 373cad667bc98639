#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/file_records.hpp"
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
  /// This, visit_segments, must_fit, merge and sync refer to the newer filter.
  [[nodiscard]] partition_state state(std::uint32_t partition) const override {
    return newer_->state(partition);
  }
  [[nodiscard]] bool estimates_keys() const noexcept override { return newer_->estimates_keys(); }
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override {
    newer_->visit_segments(partition, visit);
  }
  void must_fit(const sibling_source& siblings) const override { newer_->must_fit(siblings); }
  void merge(const sibling_source& siblings) override { newer_->merge(siblings); }
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

// Link rules shared by all stores: which filters may be linked, and the errors.

/// A link that has not ended.
struct filter_link {
  std::string newer;
  predecessor older;
  std::string id{};  ///< of the newer filter, where a store notes it
};
using filter_links = std::vector<filter_link>;

/// The filter that asks this one first; empty: none.
[[nodiscard]] std::string asker_of(const filter_links& all, std::string_view older);
/// The filter that this one asks first.
[[nodiscard]] std::optional<predecessor> asked_first(const filter_links& all, std::string_view newer);

/// A filter of a store, by its name.
struct named_spec {
  std::string_view name;
  const spec& properties;
};
/// A link has one older and one newer filter, and neither has another link: no chains, no trees.
/// @throws parameter_error  the two cannot be linked; includes the reason and a remedy
void require_linkable(const filter_links& all, const named_spec& older, const named_spec& newer);

/// @throws parameter_error  another filter asks this one first, so it cannot be dropped
void require_unasked(const filter_links& all, std::string_view name);

/// @throws parameter_error  it has a link, so it cannot be renamed
void require_unlinked(const filter_links& all, std::string_view name);

/// @throws parameter_error  always: the filter has no link
[[noreturn]] void refuse_unlinked(std::string_view newer);

/// When a link ends; nothing: never, also if the end is too far to represent.
[[nodiscard]] std::optional<event_time> end_of_link(event_time current_time,
                                                    std::optional<std::chrono::milliseconds> life) noexcept;

[[nodiscard]] std::string why_not_opened(std::string_view newer, std::string_view older, const char* why);

/// Opens both filters of a link, the older one first, as one filter.
/// @param open_older, open_newer  return a stored_filter without a link
/// @throws storage_error  the older one cannot be opened; names both
/// @throws format_error   the older one is damaged; names both    @throws  as open_newer
template <typename OpenOlder, typename OpenNewer>
std::shared_ptr<stored_filter> open_linked(std::string_view newer, predecessor older, time_source clock,
                                           OpenOlder open_older, OpenNewer open_newer) {
  std::shared_ptr<stored_filter> asked;
  try {
    asked = open_older();
  } catch (const format_error& e) {
    throw format_error(why_not_opened(newer, older.name, e.what()));
  } catch (const error& e) {
    throw storage_error(why_not_opened(newer, older.name, e.what()), 0, older.name);
  }
  return std::make_shared<linked_filter>(std::string(newer), open_newer(), std::move(older), std::move(asked),
                                         std::move(clock));
}

}  // namespace everseen
