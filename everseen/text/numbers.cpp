#include "everseen/text/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "everseen/core/base/duration.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen {

namespace {

__extension__ using uint128 = unsigned __int128;

constexpr uint128 too_much = uint128{1} << 100;  // stands for any value out of bounds

enum class fault : std::uint8_t { none, no_number, no_whole_number };

struct decimal {
  uint128 mantissa = 0;
  int exponent = 0;  // power of ten
};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Removes the separators from 1,000,000 and 1_000_000. Groups have three digits, so 1,5 stays as it is.
/// @return empty  it has separators, but not such groups
std::string without_separators(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](char c) { return is_digit(c) || c == ',' || c == '_'; });
  const auto whole = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  const std::size_t first = whole.find_first_of(",_");
  if (first == std::string_view::npos) return std::string(text);
  std::string digits(whole.substr(0, first));
  bool are_groups = first >= 1 && first <= 3;
  for (std::size_t at = first; at < whole.size() && are_groups; at += 4) {
    const std::string_view group = whole.substr(at + 1, 3);
    are_groups = whole[at] == whole[first] && group.size() == 3 && std::ranges::all_of(group, is_digit);
    digits += group;
  }
  return are_groups ? digits + std::string(text.substr(whole.size())) : std::string();
}

/// Removes digits, a fraction and an exponent from the front of `text`.
std::optional<decimal> take_decimal(std::string_view& text) {
  decimal number;
  bool digits = false;
  bool fraction = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (is_digit(c)) {
      digits = true;
      number.mantissa = std::min(number.mantissa * 10 + static_cast<unsigned>(c - '0'), too_much);
      number.exponent -= fraction;
    } else {
      break;
    }
  }
  if (!digits) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error == std::errc::invalid_argument) return std::nullopt;
    constexpr int limit = 10'000;  // a larger exponent changes no result
    const bool huge = error != std::errc{};
    number.exponent += std::clamp(huge ? (text.front() == '-' ? -limit : limit) : exponent, -limit, limit);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return number;
}

std::optional<std::uint64_t> unit(std::string_view suffix) {
  if (suffix.ends_with('B')) suffix.remove_suffix(1);  // bytes
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 10> units = {{
      {"", 1},
      {"k", 1'000},
      {"K", 1'000},
      {"M", 1'000'000},
      {"G", 1'000'000'000},
      {"T", 1'000'000'000'000},
      {"Ki", std::uint64_t{1} << 10},
      {"Mi", std::uint64_t{1} << 20},
      {"Gi", std::uint64_t{1} << 30},
      {"Ti", std::uint64_t{1} << 40},
  }};
  for (const auto& [name, value] : units)
    if (name == suffix) return value;
  return std::nullopt;
}

std::pair<uint128, fault> read_count(std::string_view typed) {
  const std::string plain = without_separators(typed);
  std::string_view text = plain;
  auto number = take_decimal(text);
  const auto factor = unit(text);
  if (!number || !factor) return {0, fault::no_number};
  uint128 value = number->mantissa >= too_much ? too_much : number->mantissa;
  if (value < too_much) value = value > too_much / *factor ? too_much : value * *factor;
  for (; number->exponent > 0 && value > 0 && value < too_much; --number->exponent)
    value = std::min(value * 10, too_much);
  for (; number->exponent < 0 && value > 0; ++number->exponent) {
    if (value % 10 != 0) return {0, fault::no_whole_number};
    value /= 10;
  }
  return {value, fault::none};
}

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view why,
                         std::string_view instead) {
  throw parameter_error(fmt::format("{} {} {}; give {}", what, text.empty() ? "''" : text, why, instead));
}

}  // namespace

std::uint64_t parse_count(std::string_view what, std::string_view text, count_bounds bounds) {
  constexpr std::uint64_t last_example = 1'000'000'000;
  const std::string instead = fmt::format("a whole number from {} to {}{}", bounds.least, bounds.most,
                                          bounds.most < last_example ? "" : ", as in 1000, 10M or 1e9");
  const bool negative = text.starts_with('-');
  const auto [value, wrong] = read_count(negative ? text.substr(1) : text);
  if (wrong == fault::no_number) refuse(what, text, "is not a number", instead);
  if (wrong == fault::no_whole_number) refuse(what, text, "is not a whole number", instead);
  if (value < bounds.least || (negative && value > 0)) refuse(what, text, "is too small", instead);
  if (value > bounds.most) refuse(what, text, "is too large", instead);
  return static_cast<std::uint64_t>(value);
}

count_range parse_range(std::string_view what, std::string_view text, std::uint64_t most) {
  const std::string_view instead = "two whole numbers from low to high, as in 1..10G";
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) refuse(what, text, "is not a range", instead);
  const count_range range = {parse_count(what, text.substr(0, dots), {0, most}),
                             parse_count(what, text.substr(dots + 2), {0, most})};
  if (range.first > range.last) refuse(what, text, "ends before it begins", instead);
  return range;
}

double parse_rate(std::string_view what, std::string_view text, rate_bounds bounds) {
  const std::string instead =
      fmt::format("a rate from {} to {}, as in 0.001 or 0.1%", bounds.least, bounds.most);
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  double rate = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rate);
  if (error == std::errc::result_out_of_range) refuse(what, text, "is out of bounds", instead);
  if (error != std::errc{} || end != digits.data() + digits.size() || rate != rate)
    refuse(what, text, "is not a number", instead);
  if (percent) rate /= 100;
  if (rate < bounds.least) refuse(what, text, "is too small", instead);
  if (rate > bounds.most) refuse(what, text, "is too large", instead);
  return rate;
}

std::chrono::milliseconds parse_duration(std::string_view what, std::string_view text,
                                         std::chrono::milliseconds least) {
  constexpr std::chrono::milliseconds longest = std::chrono::hours(24) * 36'500;
  const std::string instead =
      fmt::format("a time from {} to 36500d in {}, as in {}", format_duration(least), duration_units,
                  least < std::chrono::seconds(1) ? "500ms" : "1h30m");
  const auto [time, wrong] = read_duration(text);
  if (wrong == duration_fault::no_duration) refuse(what, text, "is not a length of time", instead);
  if (wrong == duration_fault::no_unit) refuse(what, text, "has no known unit of time", instead);
  if (wrong == duration_fault::too_long || time > longest) refuse(what, text, "is too long", instead);
  if (time < least) refuse(what, text, "is too short", instead);
  return time;
}

std::string format_count(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t u = 0;
  for (; bytes >= 1023.5 && u + 1 < units.size(); ++u) bytes /= 1024;
  const int decimals = u == 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, units[u]);
}

std::string typed_rate(double rate) {
  std::string text = fmt::format("{:.3g}", rate);
  if (const std::size_t zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
  return text;
}

std::string format_rate(double rate) {
  return rate == 0 ? "0" : rate >= 0.0009995 ? fmt::format("{:.2g}", rate) : fmt::format("{:.1e}", rate);
}

}  // namespace everseen
