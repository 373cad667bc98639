#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/stream/counter_names.hpp"
#include "everseen/stream/event_rule.hpp"
#include "everseen/stream/source.hpp"

namespace everseen {

/// A record that is no event.
struct bad_event {
  std::string bytes;
  std::uint64_t position = 0;
  record_fault why = record_fault::no_key;
  std::string field{};                 ///< that is at fault, as in /id or 3; empty: the record is
  std::optional<std::string> value{};  ///< of that field; nothing where the record has none
};

/// What is wrong with it, as in: "has no key: there is nothing at /id; it is {"x":1}". Long texts are cut.
[[nodiscard]] std::string to_string(const bad_event& bad);

/// Records of one lane, taken apart and hashed: what a claim needs to know of them.
struct event_batch {
  source_batch from;  ///< without the bad ones
  std::vector<digest> digests;
  std::vector<event_time> times;  ///< one an event; empty where the filter has no window
  std::vector<std::uint64_t> positions;
  counter_names names;
  std::vector<std::uint32_t> of_event;  ///< places in names, one a set of dimensions, event by event
  std::vector<bad_event> bad;
  std::vector<std::string> absent;    ///< of the first events: fields to count by that none of them has
  std::uint64_t bytes = 0;            ///< of all records
  std::optional<event_time> newest;   ///< time of an event
  std::optional<bad_event> stops_at;  ///< the job is to end in front of this one
  std::chrono::steady_clock::time_point read_at{};

  /// Forgets the events before a position.
  /// @return how many that were
  std::uint64_t drop_before(std::uint64_t position);
  /// Ends in front of an event: it, and all behind it, are left to another attempt.
  void end_before(std::size_t event);
};

/// What is done with records that are no events.
enum class bad_events : std::uint8_t { fail, skip };

/// Takes batches of records apart.    Threads: one at a time; another filter may be used beside it.
class event_reader {
 public:
  struct options {
    bad_events on_bad = bad_events::fail;
    /// How far ahead of `clock` the time of an event is believed; nothing: without limit. An event beyond is
    /// bad: it would close the window for all that comes after it.
    std::optional<std::chrono::milliseconds> max_ahead{};
    /// The time of events without one, asked once a batch; and what max_ahead is about. As the time of events
    /// it stands still when it is set back, and begins no earlier than what the filter was given last: so
    /// none of them is ever late by its fault.
    std::function<event_time()> clock{};
  };

  /// @throws parameter_error  as event_rule; the filter has a window, and there are neither times nor a clock
  event_reader(event_shape shape, const filter& seen, options how);

  [[nodiscard]] event_batch read(source_batch records);

 private:
  struct moment {
    event_time now{};
    event_time latest = event_time::max();  // that is believed
  };
  /// @return why the record is no event
  [[nodiscard]] std::optional<record_fault> add(const source_record& record, const moment& at,
                                                event_batch& into);
  [[nodiscard]] bad_event describe(const source_record& record, record_fault why) const;
  [[nodiscard]] moment now();

  event_rule rule_;
  bool has_told_absent_ = false;
  const filter& seen_;
  options how_;
  event_time no_earlier_{event_time::min()};
};

}  // namespace everseen
