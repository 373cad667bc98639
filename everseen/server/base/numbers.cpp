#include "everseen/server/base/numbers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace everseen::server {

namespace {

template <typename Number>
std::optional<Number> read(std::string_view word) noexcept {
  Number number{};
  const char* const end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, number);
  if (word.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int64_t> read_integer(std::string_view word) noexcept {
  return read<std::int64_t>(word);
}

std::optional<std::int64_t> read_memory_size(std::string_view word) noexcept {
  struct unit {
    std::string_view name;
    std::int64_t bytes;
  };
  static constexpr unit units[] = {{"", 1},         {"b", 1},        {"k", 1000},         {"kb", 1 << 10},
                                   {"m", 1000'000}, {"mb", 1 << 20}, {"g", 1000'000'000}, {"gb", 1 << 30}};
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto number = read<std::int64_t>(word.substr(0, digits));
  const auto is_same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (const unit& each : units)
    if (number && std::ranges::equal(word.substr(digits), each.name, is_same)) {
      if (*number > std::numeric_limits<std::int64_t>::max() / each.bytes) return std::nullopt;
      return *number * each.bytes;
    }
  return std::nullopt;
}

std::optional<double> read_decimal(std::string_view word) noexcept {
  const auto number = read<double>(word);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace everseen::server
