#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/core/spec.hpp"
#include "everseen/stream/field_reader.hpp"
#include "everseen/stream/record_rule.hpp"

namespace everseen {

/// By which property events are counted.
struct dimension {
  std::string name;  ///< for people, as in `site`
  field_rule field;
  /// The field is a time, of which the beginning of its stretch of this length counts.
  std::optional<std::chrono::milliseconds> truncation{};
};
/// Properties that events are counted by together; none: all events by one counter.
using dimension_set = std::vector<dimension>;

/// What the records of a stream are.
struct event_shape {
  std::vector<field_rule> key;  ///< none: the whole record
  std::optional<field_rule> time{};
  std::vector<dimension_set> counts{};
};

/// Takes records apart: key, time, and the names of the counters that an event raises.
///
/// Of several fields of a key the values are joined by a byte 0x1f; a 0x1f or a backslash in a value gets a
/// backslash before it, so that no two keys become one. A key of one field is its value as it stands.
///
/// The name of a counter is the number of its set and the values of its dimensions, with a tab before each.
/// Control bytes and backslashes in values are written \\xHH. A field that a record does not have counts as
/// an empty value; a time that is not there or cannot be read is a fault of the record.
/// Threads: one at a time. Cost: one pass over the record.
class event_rule {
 public:
  /// More bytes than this in a value to be counted by are a fault: counters live in the memory of a server.
  static constexpr std::size_t max_value_bytes = 1024;

  /// @throws parameter_error  as field_reader
  explicit event_rule(event_shape shape);

  struct event {
    std::string_view key;  ///< valid until the next read()
    event_time time{};     ///< the epoch, where the shape has no time
  };
  /// @param record  readable for block_reader::padding bytes beyond its end
  [[nodiscard]] tl::expected<event, record_fault> read(std::string_view record);

  /// Where the record that read() refused last is at fault, as far as one field is: as it was asked for, as
  /// in /id or 3, and its value, which is null where the record has none.    Valid until the next read().
  struct fault_place {
    std::string field{};
    std::string_view value{};
  };
  [[nodiscard]] fault_place at_fault() const;
  /// The same for the time of the record read last.
  [[nodiscard]] fault_place time_place() const;

  /// The fields to count by that no record so far had, as they were asked for.
  [[nodiscard]] std::vector<std::string> absent() const;

  /// The name of the counter of a set that the event read last raises.    @pre set < shape().counts.size()
  [[nodiscard]] std::string_view counter(std::size_t set);

  [[nodiscard]] const event_shape& shape() const noexcept { return shape_; }

 private:
  using values = std::span<const std::string_view>;

  struct placed_dimension {
    std::size_t field = 0;  // place in fields_
    std::optional<std::chrono::milliseconds> truncation;
    event_time beginning{};  // of the stretch that `text` names
    std::string text;        // of a time: made once a stretch, as most events lie in that of the one before
    std::string_view value;  // of the event read last
  };

  std::size_t place_of(const field_rule& field, std::vector<field_rule>& fields);
  [[nodiscard]] tl::expected<std::string_view, record_fault> key_of(values of);
  [[nodiscard]] tl::expected<void, record_fault> place(placed_dimension& d, std::string_view value);

  [[nodiscard]] fault_place place(std::size_t field) const;
  /// Notes the field at fault, and passes the fault on.
  [[nodiscard]] tl::unexpected<record_fault> fault(record_fault why, std::size_t field) {
    faulty_ = field;
    return tl::unexpected(why);
  }

  event_shape shape_;
  std::vector<field_rule> fields_;
  values found_;  // of the record read last
  std::optional<std::size_t> faulty_;
  std::vector<char> met_;  // by field, whether a record had it
  std::vector<std::size_t> key_;
  std::optional<std::size_t> time_;
  std::vector<std::vector<placed_dimension>> sets_;
  field_reader reader_;
  std::string key_text_;
  std::string counter_;
};

/// The values of a counter's name, and the number of its set.
struct counter_values {
  std::size_t set = 0;
  std::vector<std::string> values;
};
/// Nothing where event_rule made no such name.
[[nodiscard]] std::optional<counter_values> parse_counter(std::string_view name);

}  // namespace everseen
