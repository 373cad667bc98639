#include "everseen/core/base/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen {

namespace {

__extension__ using uint128 = unsigned __int128;

constexpr uint128 too_much = uint128{1} << 100;  // stands for any value out of bounds

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<unit, 10> count_units = {{{"", 1},
                                               {"k", 1'000},
                                               {"K", 1'000},
                                               {"M", 1'000'000},
                                               {"G", 1'000'000'000},
                                               {"T", 1'000'000'000'000},
                                               {"Ki", std::uint64_t{1} << 10},
                                               {"Mi", std::uint64_t{1} << 20},
                                               {"Gi", std::uint64_t{1} << 30},
                                               {"Ti", std::uint64_t{1} << 40}}};

/// In capitals; Redis's KB is our Ki.
constexpr std::array<unit, 8> redis_units = {{{"", 1},
                                              {"B", 1},
                                              {"K", 1'000},
                                              {"KB", 1U << 10},
                                              {"M", 1'000'000},
                                              {"MB", 1U << 20},
                                              {"G", 1'000'000'000},
                                              {"GB", 1U << 30}}};

/// Those before w, from long to short, are the ones that durations are written by.
constexpr std::array<unit, 17> duration_units = {{{"d", 86'400'000},
                                                  {"h", 3'600'000},
                                                  {"m", 60'000},
                                                  {"s", 1'000},
                                                  {"ms", 1},
                                                  {"w", 604'800'000},
                                                  {"week", 604'800'000},
                                                  {"day", 86'400'000},
                                                  {"hr", 3'600'000},
                                                  {"hour", 3'600'000},
                                                  {"min", 60'000},
                                                  {"minute", 60'000},
                                                  {"sec", 1'000},
                                                  {"second", 1'000},
                                                  {"msec", 1},
                                                  {"milli", 1},
                                                  {"millisecond", 1}}};

/// @return 0  there is no such unit
std::uint64_t factor_of(quantity kind, std::string_view name) noexcept {
  const auto find = [&](std::span<const unit> units, auto is) -> std::uint64_t {
    const auto found = std::ranges::find_if(units, [&](const unit& each) { return is(each.name); });
    return found == units.end() ? 0 : found->factor;
  };
  const auto is_same = [&](std::string_view known) { return known == name; };
  if (kind == quantity::redis_bytes)
    return find(redis_units, [&](std::string_view known) { return is_word(name, known); });
  if (kind == quantity::count) {
    if (name.ends_with('B')) name.remove_suffix(1);
    return find(count_units, is_same);
  }
  if (const std::uint64_t factor = find(duration_units, is_same); factor > 0) return factor;
  if (name.size() < 3 || !name.ends_with('s')) return 0;
  name.remove_suffix(1);
  return find(std::span(duration_units).subspan(6), is_same);
}

bool is_digit_of_number(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::string_view take_while(std::string_view& text, auto belongs) noexcept {
  const auto end = std::ranges::find_if_not(text, belongs);
  const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

/// Whether digits have no separators, or the same one between all groups of three.
bool is_grouped(std::string_view digits) noexcept {
  const std::size_t first = digits.find_first_of(",_");
  if (first == std::string_view::npos) return true;
  if (first < 1 || first > 3 || (digits.size() - first) % 4 != 0) return false;
  for (std::size_t position = first; position < digits.size(); ++position)
    if ((position - first) % 4 == 0 ? digits[position] != digits[first]
                                    : !is_digit_of_number(digits[position]))
      return false;
  return true;
}

struct decimal {
  uint128 mantissa = 0;
  int exponent = 0;  // power of ten
};

/// Removes digits, a fraction and an exponent from the front of `text`.
std::optional<decimal> take_decimal(std::string_view& text) noexcept {
  const std::string_view whole =
      take_while(text, [](char c) { return is_digit_of_number(c) || c == ',' || c == '_'; });
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_while(text, is_digit_of_number);
  }
  if (whole.size() + fraction.size() == 0 || !is_grouped(whole)) return std::nullopt;
  decimal number;
  number.exponent = -static_cast<int>(std::min<std::size_t>(fraction.size(), 1'000'000));
  for (const std::string_view part : {whole, fraction})
    for (const char c : part)
      if (is_digit_of_number(c))
        number.mantissa = std::min(number.mantissa * 10 + static_cast<unsigned>(c - '0'), too_much);
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

/// @return nothing  it is not whole
std::optional<uint128> times(const decimal& number, std::uint64_t factor) noexcept {
  uint128 value = number.mantissa > too_much / factor ? too_much : number.mantissa * factor;
  for (int e = number.exponent; e > 0 && value > 0 && value < too_much; --e)
    value = std::min(value * 10, too_much);
  for (int e = number.exponent; e < 0 && value > 0; ++e) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  return value;
}

struct amount {
  uint128 value = 0;
  quantity_fault fault = quantity_fault::none;
};

amount read_amount(quantity kind, std::string_view text) noexcept {
  using enum quantity_fault;
  const bool is_duration = kind == quantity::duration;
  uint128 sum = 0;
  do {
    const auto begin = text;
    const auto number = take_decimal(text);
    if (!number) return {0, no_number};
    const std::string_view typed = begin.substr(0, begin.size() - text.size());
    if (kind == quantity::redis_bytes && !std::ranges::all_of(typed, is_digit_of_number))
      return {0, no_number};
    if (is_duration && text.starts_with(' ')) text.remove_prefix(1);
    const std::string_view name =
        is_duration ? take_while(text, [](char c) { return c >= 'a' && c <= 'z'; }) : text;
    const std::uint64_t factor = factor_of(kind, name);
    if (factor == 0) return {0, no_unit};
    if (is_duration && text.size() > 1 && text.front() == ' ') text.remove_prefix(1);
    const auto part = times(*number, factor);
    if (!part) return {0, not_whole};
    sum = std::min(sum + *part, too_much);
  } while (is_duration && !text.empty());
  return {sum, none};
}

/// How messages speak of a kind.
struct wording {
  std::string_view no_number, no_unit, not_whole, too_small, too_large;
};
constexpr wording of_counts = {"is not a number", "is not a number", "is not a whole number", "is too small",
                               "is too large"};
constexpr wording of_durations = {"is not a length of time", "has no known unit of time",
                                  "is not a length of time", "is too short", "is too long"};

[[noreturn]] void refuse(std::string_view name, std::string_view text, std::string_view why,
                         const std::string& instead, shows_value shown = shows_value::yes) {
  std::string message(name);
  if (shown == shows_value::yes) (message += ' ') += text.empty() ? "''" : text;
  throw parameter_error((((message += ' ') += why) += "; give ") += instead);
}

std::uint64_t parse(const wording& words, quantity kind, std::string_view name, std::string_view text,
                    count_bounds bounds, const std::string& instead, shows_value shown) {
  const bool is_negative = kind == quantity::count && text.starts_with('-');
  const auto [value, fault] = read_amount(kind, is_negative ? text.substr(1) : text);
  const auto refused = [&](std::string_view why) { refuse(name, text, why, instead, shown); };
  if (fault == quantity_fault::no_number) refused(words.no_number);
  if (fault == quantity_fault::no_unit) refused(words.no_unit);
  if (fault == quantity_fault::not_whole) refused(words.not_whole);
  if (value < bounds.least || (is_negative && value > 0)) refused(words.too_small);
  if (value > bounds.most) refused(words.too_large);
  return static_cast<std::uint64_t>(value);
}

std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace

quantity_read read_quantity(quantity kind, std::string_view text) noexcept {
  const auto [value, fault] = read_amount(kind, text);
  const uint128 most = kind == quantity::count
                           ? uint128{std::numeric_limits<std::uint64_t>::max()}
                           : static_cast<uint128>(std::numeric_limits<std::int64_t>::max());
  if (fault == quantity_fault::none && value > most) return {0, quantity_fault::too_large};
  return {static_cast<std::uint64_t>(value), fault};
}

std::uint64_t parse_count(std::string_view name, std::string_view text, count_bounds bounds,
                          shows_value shown) {
  constexpr std::uint64_t last_example = 1'000'000'000;
  const std::string instead = "a whole number from " + std::to_string(bounds.least) + " to " +
                              std::to_string(bounds.most) +
                              (bounds.most < last_example ? "" : ", as in 1000, 10M, 64Mi or 1e9");
  return parse(of_counts, quantity::count, name, text, bounds, instead, shown);
}

std::chrono::milliseconds parse_duration(std::string_view name, std::string_view text, duration_bounds bounds,
                                         shows_value shown) {
  const std::string instead = "a time from " + format_duration(bounds.least) + " to " +
                              format_duration(bounds.most) + " in ms, s, m, h, d or w, as in " +
                              (bounds.least < std::chrono::seconds(1) ? "500ms" : "1h30m");
  const count_bounds ms = {static_cast<std::uint64_t>(bounds.least.count()),
                           static_cast<std::uint64_t>(bounds.most.count())};
  return std::chrono::milliseconds(parse(of_durations, quantity::duration, name, text, ms, instead, shown));
}

count_range parse_range(std::string_view name, std::string_view text, std::uint64_t most) {
  const std::string instead = "two whole numbers from low to high, as in 1..10G";
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) refuse(name, text, "is not a range", instead);
  const count_range range = {parse_count(name, text.substr(0, dots), {0, most}),
                             parse_count(name, text.substr(dots + 2), {0, most})};
  if (range.first > range.last) refuse(name, text, "ends before it begins", instead);
  return range;
}

double parse_rate(std::string_view name, std::string_view text, rate_bounds bounds) {
  const std::string instead =
      "a rate from " + shortest(bounds.least) + " to " + shortest(bounds.most) + ", as in 0.001 or 0.1%";
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  double rate = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rate);
  if (error == std::errc::result_out_of_range) refuse(name, text, "is out of bounds", instead);
  if (error != std::errc{} || end != digits.data() + digits.size() || rate != rate)
    refuse(name, text, "is not a number", instead);
  if (percent) rate /= 100;
  if (rate < bounds.least) refuse(name, text, "is too small", instead);
  if (rate > bounds.most) refuse(name, text, "is too large", instead);
  return rate;
}

std::string format_duration(std::chrono::milliseconds time) {
  std::string text;
  auto rest = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  for (const auto& [name, factor] : std::span(duration_units).first(5))
    if (rest / factor > 0) {
      (text += std::to_string(rest / factor)) += name;
      rest %= factor;
    }
  return text.empty() ? "0s" : text;
}

}  // namespace everseen
