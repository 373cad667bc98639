#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/partition/partition_state.hpp"

namespace everseen {

/// The lane of the events of a claim, and how much of it is settled.
struct lane_progress {
  /// An ordered stream of events, for example `clicks/3`: a partition of a topic, or a file.
  std::string_view lane;
  /// All events of the lane before this position have had their effect durably; their verdicts may be
  /// forgotten.
  std::uint64_t settled = 0;
};

/// Counters for fresh events: event i adds one to each of names[of_event[i * per_event + ...]].
struct increments {
  std::span<const std::string_view> names;  ///< distinct, any bytes
  std::span<const std::uint32_t> of_event;  ///< indexes into `names`
  std::size_t per_event = 0;                ///< 0: no counters
};

/// The events of a claim that belong to one partition.
struct claim_batch {
  partition_batch keys;                      ///< verdicts are written to keys.out
  std::span<const std::uint64_t> positions;  ///< one per key, ascending
  increments counts;
  /// Output, one per key: 1 if an earlier claim had the event. Its counters were then incremented by that
  /// claim, and its verdict is that of that claim. A retry that recovers its own lost answer is not an
  /// earlier claim.
  std::span<std::uint8_t> claimed_before;
};

/// The position up to which the events of a lane have been processed.
struct checkpoint {
  std::string lane;
  std::uint64_t position = 0;
  /// Any other state needed to resume: the identity of the file, the length of the output.
  std::string note{};
  /// If set, settle() succeeds only if the lane is at this position now (0: nothing is known of it).
  std::optional<std::uint64_t> from{};
};

/// The size of a job's data.
struct job_size {
  std::uint64_t counters = 0;            ///< over all partitions: a name in two of them counts twice
  std::optional<std::uint64_t> bytes{};  ///< nothing if unknown
};

/// The memory of one job: which events of which lanes were judged, and with which verdicts.
///
/// "Add, then process" loses an event if the process crashes in between; "process, then add" repeats it. A
/// claim adds the key, increments the counters and records the position of the event in one atomic step of
/// its partition. A replayed event, whose first processing was not confirmed before a crash, therefore gets
/// the verdict of its first claim until it is settled, whatever the filter answers for its key by now.
///
/// For each lane a partition records the position of the last event judged, and which of the unsettled
/// events were fresh. An event at or before that position is not judged again. It is `fresh` if recorded as
/// fresh, else `seen` (or `late` if the window has left it). How events are divided into claims does not
/// matter, and a retry may divide them differently. Within a lane, however, positions must ascend from
/// claim to claim, except when the lane is restarted at or before its oldest unsettled event, or at a
/// later one if all events before that were claimed.
///
/// Two clients that claim events of one lane concurrently, by mistake or because one is slow, get the same
/// verdicts; counters are incremented once.
///
/// Threads: any number, but only one claim per lane at a time.
class ledger {
 public:
  virtual ~ledger() = default;

  /// Judges and adds as stored_filter::add, and increments the counters of fresh events that were not claimed
  /// before.
  ///
  /// After a failure, events without an answer are `unknown`. Claim the same events again, in order, before
  /// any later ones of the lane. A full filter stops before the first event without room.
  virtual batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) = 0;

  /// Stores all checkpoints in one step. Other lanes keep theirs, and so does a lane that is already
  /// further: a client that has lost its lane to another client cannot move it back.
  ///
  /// A note that describes the effects of events, such as the length of a file, must not be stored with
  /// positions of another client, whose effects are elsewhere. Checkpoints can therefore require the current
  /// position of their lanes (checkpoint::from); each event is then settled by exactly one caller.
  /// @return false  a lane is not at its required position, and nothing is stored: another client has
  ///   settled more of it, or this call succeeded before and its answer was lost; see checkpoints()
  /// @throws storage_error, backend_error  all or nothing was stored; calling again is safe
  virtual bool settle(std::span<const checkpoint> reached) = 0;

  /// The furthest checkpoint settled, by lane.    @throws storage_error, backend_error, format_error
  [[nodiscard]] virtual std::map<std::string, checkpoint, std::less<>> checkpoints() const = 0;

  /// The job's description, chosen by the client that created it.
  [[nodiscard]] virtual const std::string& description() const noexcept = 0;

  /// What a power loss may have taken since the last settlement, as a readable sentence; empty: nothing.
  [[nodiscard]] virtual std::string doubt() const { return {}; }

  /// @throws parameter_error  the job has ended    @throws storage_error, backend_error
  [[nodiscard]] virtual job_size size() const = 0;

  /// Calls visit(name, value) for each counter of each partition. The value of a name is the sum over the
  /// partitions.    @throws backend_error, format_error
  using counter_visitor = std::function<void(std::string_view name, std::int64_t value)>;
  virtual void visit_counters(const counter_visitor& visit) const = 0;
};

}  // namespace everseen
