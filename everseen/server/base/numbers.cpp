#include "everseen/server/base/numbers.hpp"

#include <charconv>
#include <cmath>

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

std::optional<double> read_decimal(std::string_view word) noexcept {
  const auto number = read<double>(word);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace everseen::server
