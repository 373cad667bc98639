#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/core/spec/spec.hpp"
#include "everseen/dedup/record/field_reader.hpp"
#include "everseen/dedup/record/field_rule.hpp"
#include "everseen/dedup/record/key_form.hpp"
#include "everseen/dedup/time/time_reader.hpp"

namespace everseen {

/// A property by which events are counted.
struct dimension {
  std::string name;  ///< for people, as in `site`
  field_rule field;
  /// For a time field: the length to which times are truncated. The beginning of that interval counts. If
  /// event_shape::times has a zone, whole days are that zone's, and written as dates: 2026-11-25.
  std::optional<std::chrono::milliseconds> truncation{};
};
/// Properties that events are counted by together; empty: one counter for all events.
using dimension_set = std::vector<dimension>;

/// A key that a broker has beside the record: the message's own key, or a header.
struct envelope_key {
  std::string header{};  ///< its name; empty: the message's own key
  friend bool operator==(const envelope_key&, const envelope_key&) = default;
};

/// How the records of a stream become events.
struct event_shape {
  std::vector<field_rule> key;  ///< empty: the whole record, or `beside`
  std::optional<field_rule> time{};
  std::vector<dimension_set> counts{};
  /// A JSON null is a key like any other. Without it, it is a fault: two events without a value are not the
  /// same event.
  bool null_is_key = false;
  time_reader times{};  ///< reads `time`, and the fields to count by
  /// The line that names the fields, if one does. Where it occurs again, it is no record.
  std::optional<std::string> header{};
  std::optional<envelope_key> beside{};  ///< instead of `key`
  key_form form{};                       ///< of the record, or of each field of `key`
  /// What is between the fields if records are CSV: the end of a line is no part of the key, and every
  /// quotation mark must be where CSV allows one.
  std::optional<field_delimiter> csv{};
};

/// Parses records: key, time, and the names of the counters that an event raises.
///
/// A key of several fields has their values joined by a byte 0x1f; a 0x1f or a backslash in a value is
/// escaped by a backslash, so that different keys stay different. A key of one field is its value,
/// unchanged unless there is a form.
///
/// A counter's name is the number of its set and the values of its dimensions, with a tab before each value.
/// Control bytes and backslashes in values are written \\xHH. A missing field counts as an empty value; a
/// missing or unreadable time is a fault of the record.
/// Threads: one at a time. Cost: one pass over the record.
class event_rule {
 public:
  /// The longest value to be counted by; a longer one is a fault. Counters live in the memory of a server.
  static constexpr std::size_t max_value_bytes = 1024;

  /// @throws parameter_error  as field_reader
  explicit event_rule(event_shape shape);

  struct event {
    std::string_view key;  ///< valid until the next read()
    event_time time{};     ///< the epoch if the shape has no time
  };
  /// @param record  as of field_reader::read
  [[nodiscard]] tl::expected<event, record_fault> read(std::string_view record);

  /// The field at fault in the record that read() refused last, as it was requested (/id or 3), and its
  /// value, which is null if the record has none. Empty if no single field is at fault. Valid until the next
  /// read().
  struct fault_place {
    std::string field{};
    std::string_view value{};
  };
  [[nodiscard]] fault_place at_fault() const;
  /// The same for the time field of the last record.
  [[nodiscard]] fault_place time_place() const;

  /// The fields to count by that no record has had so far, as they were requested.
  [[nodiscard]] std::vector<std::string> absent() const;

  /// The name of the counter of a set that the last event raises.    @pre set < shape().counts.size()
  [[nodiscard]] std::string_view counter(std::size_t set);

  [[nodiscard]] const event_shape& shape() const noexcept { return shape_; }
  /// As field_reader::expect_quotes.
  void expect_quotes(bool any) noexcept { reader_.expect_quotes(any); }

  /// Whether read() is the identity, so that a caller may skip it.
  [[nodiscard]] bool whole_record_is_key() const noexcept {
    return fields_.empty() && !shape_.header && shape_.form.is_identity();
  }
  [[nodiscard]] bool has_time() const noexcept { return time_.has_value(); }

 private:
  using values = std::span<const std::string_view>;

  struct placed_dimension {
    std::size_t field = 0;  // index into fields_
    std::optional<std::chrono::milliseconds> truncation;
    // Of a truncated time, computed once an interval, for many events.
    event_time beginning{}, end{};
    std::string text;
    std::string_view value;  // of the last event
  };

  std::size_t place_of(const field_rule& field, std::vector<field_rule>& fields);
  /// Why a line is no record; nothing: it may be one.
  [[nodiscard]] std::optional<record_fault> no_record(std::string_view line) const noexcept;
  [[nodiscard]] tl::expected<std::string_view, record_fault> key_of(values source);
  [[nodiscard]] tl::expected<void, record_fault> place(placed_dimension& d, std::string_view value);
  void place_interval(placed_dimension& d, event_time time);

  [[nodiscard]] fault_place place(std::size_t field) const;
  /// Remembers the field at fault and returns the fault.
  [[nodiscard]] tl::unexpected<record_fault> fault(record_fault why, std::size_t field) {
    faulty_ = field;
    return tl::unexpected(why);
  }

  event_shape shape_;
  std::vector<field_rule> fields_;
  bool may_be_blank_ = false;  // lines without a value are no records of this format
  values found_;               // of the last record
  std::optional<std::size_t> faulty_;
  std::vector<char> met_;  // by field, whether any record had it
  std::vector<std::size_t> key_;
  std::optional<std::size_t> time_;
  std::vector<std::vector<placed_dimension>> sets_;
  field_reader reader_;
  std::string key_text_;
  std::string form_text_;
  std::string counter_;
};

/// The values in a counter's name, and the number of its set.
struct counter_values {
  std::size_t set = 0;
  std::vector<std::string> values;
};
/// Nothing if event_rule did not make this name.
[[nodiscard]] std::optional<counter_values> parse_counter(std::string_view name);

/// Copies of a block's keys: one that an event_rule returns is valid only until the next record.
class kept_keys {
 public:
  void clear() noexcept {
    bytes_.clear();
    ends_.clear();
  }
  void keep(std::string_view key) {
    bytes_ += key;
    ends_.push_back(bytes_.size());
  }
  /// Valid until the next call of any function.
  [[nodiscard]] std::span<const std::string_view> views() {
    views_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      views_.emplace_back(bytes_.data() + begin, end - begin);
      begin = end;
    }
    return views_;
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> views_;
};

}  // namespace everseen
