#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/error.hpp"
#include "everseen/core/partition.hpp"

namespace everseen {

/// Where the events of a claim come from.
struct origin {
  /// One ordered stream of events, as `clicks/3`: a partition of a topic, a file.
  std::string_view source;
  /// Every event of the source before this position has had its effect, for good: its verdict may be
  /// forgotten.
  std::uint64_t settled = 0;
};

/// What fresh events are counted by: event i adds one to each of names[of_event[i * per_event + ...]].
struct increments {
  std::span<const std::string_view> names;  ///< different ones, any bytes
  std::span<const std::uint32_t> of_event;  ///< places in `names`
  std::size_t per_event = 0;                ///< 0: nothing is counted
};

/// The events of a claim that fall into one partition.
struct claim_batch {
  partition_batch keys;                      ///< verdicts go to keys.out
  std::span<const std::uint64_t> positions;  ///< one a key; they ascend
  increments counts;
  /// Written, one a key: 1 where an earlier claim had the event, so that its counters were raised then, and
  /// its verdict is that of that claim. One whose own answer was lost and is found again is no earlier one.
  std::span<std::uint8_t> claimed_before;
};

/// A moment up to which a source was dealt with.
struct checkpoint {
  std::string source;
  std::uint64_t position = 0;
  /// Whatever else must be known to go on from there: which file this is, how long the output was.
  std::string note{};
  /// Asks of settle() that the source is here so far (0: nothing is known of it). Nothing: anywhere.
  std::optional<std::uint64_t> from{};
};

/// What a filter remembers of one job: which events of which sources it has judged, and how.
///
/// "Add, then process" loses an event when the process dies in between; "process, then add" doubles it. A
/// claim adds the key, raises the counters and remembers the position of the event in one atomic step of its
/// partition. So an event that comes again, because somebody died before he could say that he was done, gets
/// the verdict of its first claim, whatever the filter says of its key by now, until it is settled.
///
/// For each source a partition remembers the position of the last event that it judged, and which of those
/// not settled yet were fresh. An event at or before that position is not judged again: it is `fresh` if it
/// is among those, else `seen` (`late`, where the window has left it). How events are cut into claims, and
/// whether a second attempt cuts them alike, does not matter. What does: within a source positions ascend
/// from claim to claim, but for a source that is begun again at or before its oldest unsettled event.
///
/// Two that claim events of one source at once, by mistake or because the first is slow, get the same
/// verdicts; counters are raised once.
///
/// Threads: any number, but claims of one source one at a time.
class ledger {
 public:
  virtual ~ledger() = default;

  /// Judges and adds, as stored_filter::add, and raises the counters of events that are fresh and were not
  /// claimed before.
  ///
  /// On failure the events without an answer are `unknown`; claim the same ones again, in their order, before
  /// any later ones of the source. A full filter stops in front of the first event without room.
  virtual batch_result claim(const origin& from, std::span<const claim_batch> batches) = 0;

  /// Puts all checkpoints down in one step; those of other sources stay, and so does one that is further: who
  /// is late, as another has got his source meanwhile, leads nobody back.
  ///
  /// A note that tells of the effects of events, as the length of a file does, must not stand beside
  /// positions of somebody else, who has the same effects elsewhere. So checkpoints can say where their
  /// sources are to be (checkpoint::from), and then each event is settled by one caller alone.
  /// @return false  a source is not where its checkpoint says, and nothing is put down: another has settled
  ///         more of it, or this very call was made before, and its answer was lost; checkpoints() tells
  /// @throws storage_error, backend_error  nothing, or all, is put down; calling again is safe
  virtual bool settle(std::span<const checkpoint> reached) = 0;

  /// By source, the furthest that settle() was told.    @throws storage_error, backend_error, format_error
  [[nodiscard]] virtual std::map<std::string, checkpoint, std::less<>> checkpoints() const = 0;

  /// What the job is, in words that the caller chose when he opened it first.
  [[nodiscard]] virtual const std::string& description() const noexcept = 0;

  /// What a power loss may have taken from it since it was settled last, in a sentence for people; empty:
  /// nothing.
  [[nodiscard]] virtual std::string doubt() const { return {}; }

  /// Calls visit(name, value) for each counter of each partition: a name comes once a partition, and the sum
  /// is its value.    @throws backend_error, format_error
  using counter_visitor = std::function<void(std::string_view name, std::int64_t value)>;
  virtual void visit_counters(const counter_visitor& visit) const = 0;
};

}  // namespace everseen
