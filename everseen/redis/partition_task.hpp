#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/redis/command.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/scripts.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// A Redis string ends here, so a segment must.
inline constexpr std::uint64_t max_string_bytes = std::uint64_t{512} << 20;

/// The keys of one partition on their way through a server: a state machine that knows what to ask next.
///
///     load ──> add ──stale──> load
///               │ no slice, or full
///               └──> lengthen (in steps) ──> publish ──> add
///
/// Whoever drives it sends next() to the server and gives the answer to take(), for many partitions side by
/// side, until done(). Nothing here talks to a socket or waits. Invariant: the verdicts written so far are
/// final, those of the other keys are `unknown`.
class partition_task {
 public:
  enum class purpose : std::uint8_t { add, check };

  /// @param known   what the client remembers of the partition; null if nothing
  /// @param client  names this connection's batches, so that one which is sent twice is answered alike
  partition_task(const remote_filter& f, purpose what, const partition_batch& batch,
                 std::shared_ptr<const remote_partition> known, std::string_view client);

  [[nodiscard]] bool done() const noexcept { return failure_.has_value() || from_ == batch_.digests.size(); }

  /// The next thing to ask.    @pre !done()
  [[nodiscard]] request next();

  /// Draws the consequences of the answer.
  void take(const answer& a);

  /// Whether the next thing to ask may add keys.    @pre !done()
  [[nodiscard]] bool adds_next() const noexcept { return purpose_ == purpose::add && step_ == step::judge; }
  /// Ends with a failure of the call under way, whatever its answer was.
  void give_up(batch_failure why) { failure_ = std::move(why); }

  /// Whether it failed because the partition's state is not there.
  [[nodiscard]] bool is_gone() const noexcept { return gone_; }

  /// What is to be remembered of the partition.
  [[nodiscard]] const std::shared_ptr<const remote_partition>& known() const noexcept { return known_; }

  [[nodiscard]] tally done_so_far() const noexcept;
  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  enum class step : std::uint8_t { load, judge, lengthen, publish };

  /// Keys a script judges in one call: a few milliseconds of the server's time.
  static constexpr std::size_t keys_a_call = 1000;
  /// How much a segment is lengthened by in one command; zeroing 4 MiB takes about a millisecond.
  static constexpr std::uint64_t step_bytes = std::uint64_t{4} << 20;

  [[nodiscard]] window::slice_index slice_of(std::size_t key) const noexcept;
  [[nodiscard]] std::vector<segment_id> live_segments(window::slice_index slice) const;
  [[nodiscard]] const layer_state& layer_of(const segment_id& id) const;
  void plan();
  void begin_growth(window::slice_index slice);
  [[nodiscard]] request call(const script& s, std::vector<std::string> keys,
                             std::vector<std::string> arguments);
  [[nodiscard]] request ask_to_judge();
  [[nodiscard]] request ask_to_publish();
  void take_state(const reply& r);
  void take_verdicts(std::string_view verdicts);
  void take_length(const reply& r);
  void take_published(std::string_view word);
  bool take_refusal(std::string_view word);
  void fail(batch_failure::cause why, std::string message);
  void fail(const reply& r);

  const remote_filter& filter_;
  purpose purpose_;
  partition_batch batch_;
  std::shared_ptr<const remote_partition> known_;
  std::string client_;

  step step_ = step::load;
  std::size_t from_ = 0;   // keys before have their verdict
  std::size_t count_ = 0;  // keys of the call under way
  std::string sequence_;   // names the call under way
  bool just_loaded_ = false;
  bool confirmed_ = false;  // by the server, in this task: known_ is not from before a reset
  bool gone_ = false;
  bool with_text_ = false;         // the server does not know the script yet
  std::vector<segment_id> asked_;  // segments of the call under way
  int stale_ = 0;                  // times in a row that the plan was stale

  std::optional<remote_partition> next_state_;  // growth under way
  segment_id new_segment_;
  std::uint64_t length_ = 0;
  std::vector<segment_id> expired_;

  std::optional<batch_failure> full_;  // some keys found no room; reported when all were asked
  std::optional<batch_failure> failure_;
};

}  // namespace everseen::redis
