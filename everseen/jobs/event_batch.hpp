#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "everseen/dedup/record/bad_record.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/jobs/port/source.hpp"

namespace everseen {

/// The distinct names of counters that a batch raises, each with an index.
/// Threads: one at a time. Cost: a look-up in a hash table; a copy of each new name.
class counter_names {
 public:
  [[nodiscard]] std::uint32_t place_of(std::string_view name) {
    if (const auto found = places_.find(name); found != places_.end()) return found->second;
    const std::string_view kept = texts_.emplace_back(name);
    const auto place = static_cast<std::uint32_t>(names_.size());
    names_.push_back(kept);
    places_.emplace(kept, place);
    return place;
  }

  /// By index. Valid until place_of() adds a new name.
  [[nodiscard]] std::span<const std::string_view> all() const noexcept { return names_; }

 private:
  std::deque<std::string> texts_;  // a deque never moves its elements
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
};

/// Records of one lane, parsed and hashed: all that a claim needs.
struct event_batch {
  source_batch from;  ///< without the bad ones
  std::vector<digest> digests;
  std::vector<event_time> times;  ///< one an event; empty if the filter has no window
  std::vector<std::uint64_t> positions;
  counter_names names;
  std::vector<std::uint32_t> of_event;  ///< indexes into names, one a set of dimensions, event by event
  std::vector<bad_record> bad;
  std::vector<std::string> absent;     ///< fields to count by that none of the first events has
  std::uint64_t bytes = 0;             ///< of all records
  std::optional<event_time> newest;    ///< latest time of an event
  std::optional<bad_record> stops_at;  ///< the job ends before this one
  std::chrono::steady_clock::time_point read_at{};

  /// Drops the events before a position.
  /// @return how many were dropped
  std::uint64_t drop_before(std::uint64_t position);
  /// Truncates the batch before an event: another attempt takes it and all events after it.
  void end_before(std::size_t event);
};

/// What to do with records that are not events.
enum class bad_events : std::uint8_t { fail, skip };

/// Parses batches of records.    Threads: one at a time; other readers may run in parallel.
class event_reader {
 public:
  struct options {
    bad_events on_bad = bad_events::fail;
    bad_events on_no_record = bad_events::fail;  ///< the same for lines that are no records: is_no_record()
    /// How far ahead of `clock` an event's time may be; nothing: without limit. An event that is too far
    /// ahead is bad: it would close the window for everything after it.
    std::optional<std::chrono::milliseconds> max_ahead{};
    /// The time of events without one, asked once a batch; also the reference for max_ahead. If the clock is
    /// set back, the last time is used, and no time is earlier than the beginning of the filter's newest
    /// slice. So the clock never makes an event late.
    std::function<event_time()> clock{};
    /// The sink takes values alone: a record of a broker that has none is bad.
    bool needs_value = false;
    /// The byte that ends a record in the output, if that is lines: a record of a broker with one inside is
    /// bad. Records of files end there, or have it in quotes.
    std::optional<char> separator{};
  };

  /// @throws parameter_error  as event_rule; or the filter has a window, and there are neither times nor a
  ///         clock
  event_reader(event_shape shape, const filter& known_keys, options settings);

  [[nodiscard]] event_batch read(source_batch records);

 private:
  struct moment {
    event_time read_at{};
    event_time latest = event_time::max();  // the latest time that is accepted
  };
  /// @return why the record is not an event
  [[nodiscard]] std::optional<record_fault> add(const source_record& record, const moment& time,
                                                event_batch& into);
  [[nodiscard]] moment now();
  [[nodiscard]] std::optional<record_fault> fault_of_envelope(const source_record& record) const;
  /// Nothing: the record has none there.
  [[nodiscard]] std::optional<std::string_view> key_of(const source_record& record,
                                                       std::string_view in_record);
  /// The key of a record without a value.
  [[nodiscard]] std::string_view key_without_value(const record_envelope& envelope);

  event_rule rule_;
  bool has_told_absent_ = false;
  const filter& known_keys_;
  options options_;
  event_time no_earlier_{event_time::min()};
  std::string refusal_{};  // why the last record that add() refused has no key that the filter can take
  std::string made_key_{};
};

}  // namespace everseen
