#include "everseen/dedup/time/time_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/time/event_time.hpp"

namespace everseen {

namespace {

using namespace std::chrono;

/// Whether the time zone database has it. For any other text, the C library silently takes UTC.
bool is_named_zone(std::string_view text) {
  if (text.empty() || text.front() == '/' || text.find("..") != std::string_view::npos) return false;
  const char* const folder = std::getenv("TZDIR");
  std::ifstream file(std::filesystem::path(folder == nullptr ? "/usr/share/zoneinfo" : folder) / text,
                     std::ios::binary);
  std::array<char, 4> magic{};
  return file.read(magic.data(), magic.size()) && std::string_view(magic.data(), magic.size()) == "TZif";
}

/// How far the process's zone is east of Greenwich at a moment.
seconds east_at(sys_time<minutes> moment) noexcept {
  const std::time_t since_1970 = sys_seconds(moment).time_since_epoch().count();
  std::tm parts{};
  return seconds(::localtime_r(&since_1970, &parts) == nullptr ? 0 : parts.tm_gmtoff);
}

/// @param local  a minute of the process's zone
seconds east_of_local(sys_time<minutes> local) noexcept {
  // No zone is a day from Greenwich, or changes twice within two.
  const seconds before = east_at(local - days(1)), after = east_at(local + days(1));
  const auto holds = [local](seconds east) { return east_at(floor<minutes>(local - east)) == east; };
  return holds(before) || !holds(after) ? before : after;
}

/// A part of a format, as in %Y or %-d.
struct directive {
  char letter;
  std::size_t begin, end;
};

std::vector<directive> directives_of(std::string_view format) {
  std::vector<directive> all;
  for (std::size_t begin = format.find('%'); begin != std::string_view::npos;) {
    const std::size_t letter = format.find_first_not_of("-_0^#EO", begin + 1);
    if (letter == std::string_view::npos) break;
    all.push_back({format[letter], begin, letter + 1});
    begin = format.find('%', letter + 1);
  }
  return all;
}

/// 0: it is no unit.
std::uint64_t ns_of_unit(std::string_view text) noexcept {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> units = {
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
  for (const auto& [name, ns] : units)
    if (text == name) return ns;
  return 0;
}

/// The millisecond in which a moment lies that is written as a decimal number.
std::optional<event_time> number_of_units(std::string_view text, std::uint64_t ns_per_unit) noexcept {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point),
                         fraction = text.substr(std::min(point + 1, text.size()));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (whole.empty() || (point < text.size() && fraction.empty()) || !std::ranges::all_of(whole, is_digit) ||
      !std::ranges::all_of(fraction, is_digit))
    return std::nullopt;
  constexpr std::uint64_t ns_per_ms = 1'000'000, last_ms = 253'402'300'799'999;  // of the year 9999
  constexpr std::size_t most_places = 9;
  std::uint64_t units = 0, billionths = 0;
  for (const char c : whole) {
    if (units > (std::numeric_limits<std::uint64_t>::max() - 9) / 10) return std::nullopt;
    units = 10 * units + static_cast<std::uint64_t>(c - '0');
  }
  for (std::size_t i = 0; i < most_places; ++i)
    billionths = 10 * billionths + (i < fraction.size() ? static_cast<std::uint64_t>(fraction[i] - '0') : 0);
  std::uint64_t ms = 0, rest_ns = billionths * ns_per_unit / 1'000'000'000;
  if (const std::uint64_t ms_per_unit = ns_per_unit / ns_per_ms; ms_per_unit > 0) {
    if (units > last_ms / ms_per_unit) return std::nullopt;
    ms = units * ms_per_unit + rest_ns / ns_per_ms;
    rest_ns %= ns_per_ms;
  } else {
    const std::uint64_t units_per_ms = ns_per_ms / ns_per_unit;
    ms = units / units_per_ms;
    rest_ns += units % units_per_ms * ns_per_unit;
  }
  constexpr std::uint64_t first_ms = 62'167'219'200'000;  // before 1970, of the year 0
  if (ms > (is_negative ? first_ms - 1 : last_ms)) return std::nullopt;
  const auto since_1970 = static_cast<std::int64_t>(ms);
  return event_time(milliseconds(is_negative ? -since_1970 - (rest_ns > 0 ? 1 : 0) : since_1970));
}

}  // namespace

bool time_reader::is_unit(std::string_view text) noexcept {
  return ns_of_unit(text) > 0;
}

time_zone time_zone::of(std::string_view text) {
  if (const auto east = parse_offset(text)) return {text, east};
  if (!is_named_zone(text))
    throw parameter_error("the time zone '" + std::string(text) +
                          "' is not known here; give UTC, an offset as in +01:00, or a name as in "
                          "Europe/Berlin (of the system's package tzdata)");
  ::setenv("TZ", std::string(":").append(text).c_str(), 1);
  ::tzset();
  return {text, std::nullopt};
}

event_time time_zone::to_utc(event_time local) noexcept {
  if (east_) return local - *east_;
  if (const auto minute = floor<minutes>(local); minute != known_minute_) {
    known_minute_ = minute;
    known_east_ = east_of_local(minute);
  }
  return local - known_east_;
}

event_time time_zone::to_local(event_time moment) const noexcept {
  return moment + (east_ ? seconds(*east_) : east_at(floor<minutes>(moment)));
}

time_reader::time_reader(std::string format, std::optional<time_zone> zone)
    : format_(std::move(format)), zone_(std::move(zone)) {
  if (format_.empty()) return;
  ns_per_unit_ = ns_of_unit(format_);
  if (ns_per_unit_ > 0) return;
  const std::vector<directive> all = directives_of(format_);
  const auto first = [&](std::string_view letters) {
    return std::ranges::find_if(all,
                                [&](const directive& d) { return letters.find(d.letter) != letters.npos; });
  };
  const auto has = [&](std::string_view letters) { return first(letters) != all.end(); };
  if (has("s")) throw parameter_error("a time format cannot have %s: --time-unit s reads seconds since 1970");
  if (has("Z") && !has("z"))  // the C library skips the name of a zone
    throw parameter_error(
        "a time format cannot have %Z without %z, as names of zones are not unique; use %z for an offset, or "
        "write the "
        "name itself in place of %Z, and give --time-zone");
  if (!has("YyCDFcx"))
    throw parameter_error("the time format '" + format_ + "' has no year, as in '%Y-%m-%d %H:%M:%S'");
  format_has_zone_ = has("z");
  if (!format_has_zone_ && !zone_)
    throw parameter_error("the time format '" + format_ +
                          "' has no zone (%z); say where its times belong, as in --time-zone UTC");
  if (const auto f = first("f"); f != all.end())
    fraction_ = {format_.substr(0, f->begin), format_.substr(0, f->begin) + format_.substr(f->end)};
}

std::optional<event_time> time_reader::read(std::string_view text) noexcept {
  if (ns_per_unit_ > 0) return number_of_units(text, ns_per_unit_);
  if (!format_.empty()) return read_by_format(text);
  if (!zone_) return parse_event_time(text);
  const auto written = parse_written_time(text);
  return written && !written->east ? zone_->to_utc(written->local) : parse_event_time(text);
}

std::optional<event_time> time_reader::read_by_format(std::string_view text) noexcept {
  std::array<char, 128> copy;  // strptime needs a zero byte at the end
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::ranges::copy(text, copy.begin());  // an empty text may have no address
  copy[text.size()] = '\0';
  std::tm parts{};
  parts.tm_mday = 1;
  milliseconds fraction{};
  if (fraction_) {
    char* const begin = ::strptime(copy.data(), fraction_->before.c_str(), &parts);
    const std::size_t digits = begin == nullptr ? 0 : std::strspn(begin, "0123456789");
    if (digits == 0) return std::nullopt;
    int hundred = 100;
    for (std::size_t i = 0; i < digits; ++i, hundred /= 10)
      fraction += milliseconds(hundred * (begin[i] - '0'));
    // The rest is read together with what is before: %p behind the fraction belongs to %I before it.
    std::memmove(begin, begin + digits, std::strlen(begin + digits) + 1);
    parts = {};
    parts.tm_mday = 1;
  }
  const char* const rest =
      ::strptime(copy.data(), fraction_ ? fraction_->removed.c_str() : format_.c_str(), &parts);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  const year_month_day date{year{parts.tm_year + 1900}, month{static_cast<unsigned>(parts.tm_mon + 1)},
                            day{static_cast<unsigned>(parts.tm_mday)}};
  if (!date.ok() || date.year() < year(1000)) return std::nullopt;  // %Y takes 26 for the year 26
  const event_time local =
      sys_days{date} + hours{parts.tm_hour} + minutes{parts.tm_min} + seconds{parts.tm_sec} + fraction;
  return format_has_zone_ ? local - seconds{parts.tm_gmtoff} : zone_->to_utc(local);
}

std::string time_reader::advice(std::string_view text) const {
  if (ns_per_unit_ > 0) return "the time is no number of " + format_ + " since 1970";
  if (!format_.empty()) return "the time is not of the form '" + format_ + "'";
  if (!zone_ && parse_written_time(text))
    return "the time has no zone; say where it belongs, as in --time-zone UTC, +01:00 or Europe/Berlin";
  if (looks_like_date(text))
    return "the time could be a date, or a number; for a date, give --time-format " +
           std::string("%Y%m%d%H%M%S").substr(0, text.size() - 2) + " and --time-zone";
  return "a time is written as " + std::string(time_forms) +
         "; any other form is read by --time-format, as in '%d/%m/%Y %H:%M:%S'";
}

}  // namespace everseen
