#include "everseen/dedup/record/event_rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "everseen/dedup/record/json_text.hpp"

namespace everseen {

namespace {

// The unit separator of ASCII. It and the backslash are escaped inside a field, so that different lists of
// fields never make the same key.
constexpr char between_fields = '\x1f';

bool same(const field_rule& a, const field_rule& b) noexcept {
  return a.form == b.form && a.number == b.number && a.pointer == b.pointer;
}

void append_key_field(std::string_view value, std::string& key) {
  for (const char c : value) {
    if (c == between_fields || c == '\\') key += '\\';
    key += c;
  }
}

std::string_view without_return(std::string_view line) noexcept {
  return line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0));
}

bool is_plain(char c) noexcept {
  return static_cast<unsigned char>(c) >= ' ' && c != '\\' && c != '\x7f';
}

void append_value(std::string_view value, std::string& name) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (std::all_of(value.begin(), value.end(), is_plain)) {
    name += value;
    return;
  }
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c))
      name += c;
    else
      (((name += "\\x") += digits[byte >> 4]) += digits[byte & 15]);
  }
}

/// As in 2025-01-01T00:10:00Z, with milliseconds if there are any; empty for years without four digits.
std::string time_text(event_time time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  if (static_cast<int>(date.year()) < 0 || static_cast<int>(date.year()) > 9999) return {};
  const hh_mm_ss clock(time - day);
  const auto ms = static_cast<int>(clock.subseconds().count());
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()));
  std::string result(text.data(), static_cast<std::size_t>(length));
  if (ms != 0) {
    std::snprintf(text.data(), text.size(), ".%03d", ms);
    result += text.data();
  }
  return result + 'Z';
}

event_time beginning_of(event_time time, std::chrono::milliseconds interval) noexcept {
  auto into = time.time_since_epoch() % interval;
  if (into.count() < 0) into += interval;
  return time - into;
}

}  // namespace

event_rule::event_rule(event_shape shape) : shape_(std::move(shape)), reader_({}) {
  for (const field_rule& field : shape_.key) key_.push_back(place_of(field, fields_));
  if (shape_.time) time_ = place_of(*shape_.time, fields_);
  for (const dimension_set& set : shape_.counts) {
    auto& placed = sets_.emplace_back();
    for (const dimension& d : set)
      placed.push_back({place_of(d.field, fields_), d.truncation, {}, {}, {}, {}});
  }
  may_be_blank_ = std::ranges::any_of(
      fields_, [](const field_rule& f) { return f.form == field_rule::kind::json || f.quoted; });
  if (shape_.csv && fields_.empty() && !shape_.beside)  // to find quotation marks in the wrong place
    fields_.push_back({field_rule::kind::delimited, 1, *shape_.csv, {}, true});
  reader_ = field_reader(fields_);
  met_.resize(fields_.size());
}

std::size_t event_rule::place_of(const field_rule& field, std::vector<field_rule>& fields) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return same(f, field); });
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  fields.push_back(field);
  return fields.size() - 1;
}

std::optional<record_fault> event_rule::no_record(std::string_view line) const noexcept {
  // An empty line of plain text is a record, whose key is empty. Between values of JSON and rows of a table
  // it is none; in a table, a line of blanks is a row of one field.
  const std::string_view blanks = may_be_blank_ && fields_.front().quoted ? "\r" : " \t\r";
  if (may_be_blank_ && line.find_first_not_of(blanks) == std::string_view::npos) return record_fault::blank;
  if (shape_.header && without_return(line) == without_return(*shape_.header))
    return record_fault::header_again;
  return std::nullopt;
}

tl::expected<event_rule::event, record_fault> event_rule::read(std::string_view record) {
  faulty_.reset();
  found_ = {};
  if (const auto why = no_record(record)) return tl::unexpected(*why);
  const auto found = reader_.read(record);
  if (!found) return tl::unexpected(found.error());
  found_ = *found;
  event result{record, {}};
  if (!key_.empty()) {
    const auto key = key_of(*found);
    if (!key) return tl::unexpected(key.error());
    result.key = *key;
  } else {
    result.key = shape_.form.of(shape_.csv ? without_return(record) : record, form_text_);
  }
  if (time_) {
    const std::string_view text = (*found)[*time_];
    if (text.data() == nullptr) return fault(record_fault::no_time, *time_);
    const auto time = shape_.times.read(text);
    if (!time) return fault(record_fault::unreadable_time, *time_);
    result.time = *time;
  }
  for (auto& set : sets_)
    for (placed_dimension& d : set)
      if (const auto placed = place(d, (*found)[d.field]); !placed) return fault(placed.error(), d.field);
  return result;
}

tl::expected<std::string_view, record_fault> event_rule::key_of(values source) {
  for (const std::size_t field : key_) {
    if (source[field].data() == nullptr) return fault(record_fault::no_key, field);
    if (!shape_.null_is_key && is_json_null(source[field])) return fault(record_fault::null_key, field);
  }
  if (key_.size() == 1) return shape_.form.of(source[key_.front()], form_text_);
  key_text_.clear();
  for (std::size_t i = 0; i < key_.size(); ++i) {
    if (i > 0) key_text_ += between_fields;
    append_key_field(shape_.form.of(source[key_[i]], form_text_), key_text_);
  }
  return key_text_;
}

tl::expected<void, record_fault> event_rule::place(placed_dimension& d, std::string_view value) {
  d.value = value;
  if (value.data() != nullptr) met_[d.field] = 1;
  if (value.size() > max_value_bytes) return tl::unexpected(record_fault::long_value);
  if (!d.truncation) return {};
  if (value.data() == nullptr) return tl::unexpected(record_fault::no_time);
  const auto time = shape_.times.read(value);
  if (!time) return tl::unexpected(record_fault::unreadable_time);
  // Most events fall into the interval of the event before them, whose text is kept.
  if (d.text.empty() || *time < d.beginning || *time >= d.end) place_interval(d, *time);
  if (d.text.empty()) return tl::unexpected(record_fault::unreadable_time);
  d.value = d.text;
  return {};
}

/// A local day may have 23 or 25 hours, and its beginning is another moment in each zone: its date is its
/// name.
void event_rule::place_interval(placed_dimension& d, event_time time) {
  const std::chrono::milliseconds length = *d.truncation;
  std::optional<time_zone> zone = shape_.times.zone();
  if (!zone || length % std::chrono::days(1) != std::chrono::milliseconds(0)) {
    d.beginning = beginning_of(time, length);
    d.end = d.beginning + length;
    d.text = time_text(d.beginning);
    return;
  }
  const event_time local = beginning_of(zone->to_local(time), length);
  d.beginning = zone->to_utc(local);
  d.end = zone->to_utc(local + length);
  d.text = time_text(local);
  d.text.resize(std::min(d.text.size(), std::string_view("2026-11-25").size()));
}

event_rule::fault_place event_rule::place(std::size_t field) const {
  const field_rule& rule = fields_[field];
  std::string name = rule.form == field_rule::kind::json ? rule.pointer : std::to_string(rule.number);
  return {std::move(name), field < found_.size() ? found_[field] : std::string_view{}};
}

event_rule::fault_place event_rule::at_fault() const {
  return faulty_ ? place(*faulty_) : fault_place{};
}

event_rule::fault_place event_rule::time_place() const {
  return time_ ? place(*time_) : fault_place{};
}

std::vector<std::string> event_rule::absent() const {
  std::vector<std::string> all;
  for (const auto& set : sets_)
    for (const placed_dimension& d : set)
      if (std::string name = place(d.field).field;
          met_[d.field] == 0 && std::find(all.begin(), all.end(), name) == all.end())
        all.push_back(std::move(name));
  return all;
}

std::string_view event_rule::counter(std::size_t set) {
  std::array<char, 20> number{};
  const auto end = std::to_chars(number.data(), number.data() + number.size(), set).ptr;
  counter_.assign(number.data(), end);
  for (const placed_dimension& d : sets_[set]) {
    counter_ += '\t';
    append_value(d.value, counter_);
  }
  return counter_;
}

namespace {

std::optional<unsigned char> hex_byte(std::string_view two) noexcept {
  unsigned char byte = 0;
  const auto [end, bad] = std::from_chars(two.data(), two.data() + two.size(), byte, 16);
  if (bad != std::errc{} || two.size() != 2 || end != two.data() + 2) return std::nullopt;
  return byte;
}

std::optional<std::string> parse_value(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    const auto byte = text.substr(i).starts_with("\\x") ? hex_byte(text.substr(i + 2, 2)) : std::nullopt;
    if (!byte) return std::nullopt;
    value += static_cast<char>(*byte);
    i += 3;
  }
  return value;
}

}  // namespace

std::optional<counter_values> parse_counter(std::string_view name) {
  counter_values result;
  const std::size_t tab = std::min(name.find('\t'), name.size());
  const auto [end, bad] = std::from_chars(name.data(), name.data() + tab, result.set);
  if (bad != std::errc{} || end != name.data() + tab) return std::nullopt;
  for (std::string_view rest = name.substr(tab); !rest.empty();) {
    rest.remove_prefix(1);
    const std::size_t length = std::min(rest.find('\t'), rest.size());
    auto value = parse_value(rest.substr(0, length));
    if (!value) return std::nullopt;
    result.values.push_back(std::move(*value));
    rest.remove_prefix(length);
  }
  return result;
}

}  // namespace everseen
