#include "everseen/text/numbers.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace everseen {

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
