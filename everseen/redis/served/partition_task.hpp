#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/redis/served/command_set.hpp"
#include "everseen/redis/served/key_run.hpp"
#include "everseen/redis/served/lane_claim.hpp"
#include "everseen/redis/served/remote_partition.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// The maximum length of a Redis string, and so of a segment.
inline constexpr std::uint64_t max_string_bytes = partition_keys::max_segment_bytes;

/// The keys of one partition on their way through a server: a state machine that produces the next request.
///
///     load ──> judge ──stale──> load
///               │ no slice, or full
///               └──> grow (in steps) ──> judge
///
/// drive() sends next() to the server and passes the answer to take(), for many partitions in parallel, until
/// done(). Nothing here uses a socket or waits. Invariant: the verdicts written so far are final, those of
/// the other keys are `unknown`.
class partition_task {
 public:
  /// A look-up continues in a sealed partition.
  enum class purpose : std::uint8_t { add, check };

  /// Why a task stops before all keys have verdicts.
  enum class reason : std::uint8_t {
    none,
    sealed,   ///< another filter takes what is to be added
    claimed,  ///< the record of the lane has changed
    ended,    ///< the job has
  };

  /// @param known  the client's cached state of the partition; null if there is none
  /// @param claim  the keys are events of a job; null: they are not
  partition_task(command_set by, purpose what, const partition_batch& batch,
                 std::shared_ptr<const remote_partition> known, std::unique_ptr<lane_claim> claim = {});
  /// Moves the window of a partition to a slice and judges nothing.
  partition_task(command_set by, std::uint32_t partition, window::slice_index newest);

  [[nodiscard]] bool done() const noexcept {
    return failure_.has_value() || detour_ != reason::none || (from_ == batch_.digests.size() && !move_to_);
  }
  [[nodiscard]] reason detour() const noexcept { return detour_; }
  /// The number of keys, from the first on, that have verdicts.
  [[nodiscard]] std::size_t answered() const noexcept { return from_; }

  /// The next request.    @pre !done()
  [[nodiscard]] request next();

  /// Processes the answer.
  void take(const answer& a);

  /// Whether the next request may add keys.    @pre !done()
  [[nodiscard]] bool adds_next() const noexcept { return purpose_ != purpose::check && step_ == step::judge; }
  /// The route of all its requests.
  [[nodiscard]] route place() const { return {filter().keys.state(batch_.partition), batch_.partition}; }

  /// The state to cache for the partition.
  [[nodiscard]] const std::shared_ptr<const remote_partition>& known() const noexcept { return known_; }

  [[nodiscard]] tally done_so_far() const noexcept;
  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  enum class step : std::uint8_t { load, judge, grow };

  [[nodiscard]] const filter_identity& filter() const noexcept { return commands_.filter(); }
  [[nodiscard]] window::slice_index slice_of(std::size_t key) const noexcept;
  [[nodiscard]] std::vector<segment_id> live_segments(window::slice_index slice) const;
  void name_targets(judge_call& q) const;
  bool is_sealed();
  bool has_moved();
  void plan();
  void begin_growth(window::slice_index slice);
  [[nodiscard]] judge_call ask_about_keys(key_run about) const;
  void take_state(const answer& a);
  bool take_exception(const call_result& o);
  void take_verdicts(const call_result& o);
  void mark_late(std::span<verdict> out) const;
  void take_growth(const call_result& o);
  void fail(batch_failure::cause why, std::string message);

  command_set commands_;
  purpose purpose_;
  partition_batch batch_;
  std::optional<window::slice_index> move_to_{};  // until the window is there
  std::shared_ptr<const remote_partition> known_;
  std::unique_ptr<lane_claim> claim_{};

  step step_ = step::load;
  std::size_t from_ = 0;   // keys before have their verdict
  std::size_t count_ = 0;  // keys of the call under way
  reason detour_ = reason::none;
  judge_call question_;  // of the call under way
  int stale_ = 0;        // times in a row that the plan was stale

  std::optional<growth_call> growth_;
  std::uint64_t growth_calls_left_ = 0;

  std::optional<batch_failure> full_;  // some keys found no room; reported when all were asked
  std::optional<batch_failure> failure_;
};

}  // namespace everseen::redis
