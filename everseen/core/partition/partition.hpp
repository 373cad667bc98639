#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/partition/journal_record.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/core/partition/sibling.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

class pending_keys;

/// The filter logic of one partition: layers, slices, growth and rotation over storage for bits.
///
/// The same code runs over memory, mapped files and inside the Redis module. Keys of a batch are judged in
/// order. If a key occurs twice, the first occurrence is the fresh one.
///
///     digests ──> older layers and slices (look-up only) ──not found──> newest layer of the key's slice
///                                                                        (test-and-add, grow when full)
///
/// Threads: add needs exclusive access; checks may run concurrently. The owner holds the lock.
class partition {
 public:
  /// @param state  empty for a new partition; else an earlier state(), with all its segments in `place`
  /// @pre the spec and the place outlive the partition
  partition(const spec& s, std::uint32_t number, segments& place, partition_state state = {});

  /// Judges the keys and adds the fresh ones.
  ///
  /// Keys that find no room are left `unknown`, and all others are judged. After any other failure the rest
  /// of the batch is `unknown`. Adding exactly those keys again, in order, gives the same verdicts as a batch
  /// without the failure.
  /// @return the tally, or why keys were left `unknown`; those were not added
  batch_result add(const partition_batch& batch);

  /// Moves the window as keys of this time would, without adding any. A late time moves nothing.
  /// @pre there is a window    @throws storage_error  as segments::create
  void move_window(event_time time);

  /// Applies the next record of the journal, as every replica of the partition does.
  ///
  /// Every key is counted without reading bits. If a checkpoint was taken while keys were added, its bits may
  /// already hold keys of later records. Counts decide when layers begin, so they must not depend on bits.
  /// @throws format_error   the record has keys or bits without room, so it does not belong to this journal
  /// @throws storage_error  as segments::create; the record was applied in part
  void apply(const journal_record& record);

  /// Notes that bits of this number of keys were added to a segment from outside, such as from a copy that
  /// was made while keys were added. It never has fewer keys afterwards, nor more than its capacity unless it
  /// is overfilled. Does nothing for a segment that does not exist.
  void count_at_least(const segment_id& id, std::uint64_t keys) noexcept;

  /// Adds all keys of this partition of siblings, by adding the bits of each segment to the one with the same
  /// id. The slices of the siblings move the window as their keys would; those that are late are left out.
  /// Segments count their keys as segment_union::count().
  /// @param siblings  all segments of the partition, of one sibling or several, ascending by id
  /// @pre must_fit(), or it was decided elsewhere, for the same segments
  /// @return whether anything has changed; merging the same segments again changes nothing
  /// @throws parameter_error  as must_fit()
  /// @throws storage_error, full_error  as segments::create; what is merged by then is complete
  /// Cost: three passes over the bits.
  bool merge(std::span<const sibling_segment> siblings);
  /// Whether the error rate is kept with all their keys. Changes nothing.
  /// @throws full_error       a segment would have more keys than its capacity
  /// @throws parameter_error  a segment and its counterpart differ in shape
  void must_fit(std::span<const sibling_segment> siblings) const;
  /// Where the partition follows a journal: the next record of a merge, with lines of the siblings' bits that
  /// the partition lacks. Applied again and again, such records merge the siblings.
  /// @param siblings  as merge()    @param most  bytes of pieces; a few more if they are too few for all
  /// counts
  /// @return a record without pieces if it has all; `previous` is left to the caller
  /// @pre must_fit(), before the first    @throws parameter_error  as must_fit()
  /// @throws full_error  another merge has taken the room since must_fit()
  /// Cost: as merge().
  [[nodiscard]] journal_record next_merge(std::span<const sibling_segment> siblings, std::size_t most) const;

  /// Judges the keys and changes nothing.
  tally check(const partition_batch& batch) const noexcept;

  /// Removes every key. Needs exclusive access.
  /// @throws storage_error  as segments::drop_before
  void forget();

  [[nodiscard]] const partition_state& state() const noexcept { return state_; }

 private:
  const spec& spec_;
  std::uint32_t number_;
  segments& place_;
  partition_state state_;

  [[nodiscard]] window::slice_index slice_of(const partition_batch& batch, std::size_t i) const noexcept;
  [[nodiscard]] window::slice_index newest() const noexcept { return state_.slices.back().index; }
  /// The newest slice after an add to `slice`.
  [[nodiscard]] window::slice_index newest_or(window::slice_index slice) const noexcept {
    return state_.slices.empty() ? slice : std::max(slice, newest());
  }
  [[nodiscard]] bool is_late(window::slice_index slice) const noexcept;

  struct slice_range {
    window::slice_index oldest;
    window::slice_index newest;
  };
  /// Calls judge(run, mixed) for runs of keys, each of at most pending_keys::max_keys, whose slices are all
  /// in reach(slice of the first key); `mixed` if the slices differ.
  template <typename Reach, typename Judge>
  void for_each_run(const partition_batch& batch, Reach reach, Judge judge) const;
  /// Calls visit(id, layer) for each segment that a key of slice `newest` is compared with, oldest first.
  template <typename Visit>
  void for_each_live_segment(window::slice_index newest, Visit visit) const;

  slice_state& open_slice(window::slice_index index);
  layer_state& grow(slice_state& slice);
  void add_alike(const partition_batch& key_run, tally& done);
  void add_mixed(const partition_batch& key_run, tally& done);
  void judge_mixed(const partition_batch& key_run);
  void add_run(window::slice_index index, pending_keys& keys);
  void fill_newest_layer(slice_state& slice, pending_keys& keys);
  void insert(slice_state& slice, std::span<const digest> keys);
  void apply(const journal_record::piece& piece);
  [[nodiscard]] const layer_state* find_layer(const segment_id& id) const noexcept;
  struct counterpart;
  [[nodiscard]] counterpart counterpart_of(std::span<const sibling_segment> same) const;
  [[nodiscard]] std::uint64_t keys_with_all(const counterpart& mine) const noexcept;
};

}  // namespace everseen
