#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/core/base/duration.hpp"

/// Strict parsing of numbers that people type. The whole text must match; an error names the option, the
/// value and the bounds.
namespace everseen {

struct count_bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

/// A whole number: 1000000, 1,000,000, 1_000_000, 1e6, 1.5M; k M G T are powers of 1000, Ki Mi Gi Ti of 1024.
/// A B for bytes may follow, as in 1MB and 64MiB.
/// @param what  the option, for the message    @throws parameter_error
[[nodiscard]] std::uint64_t parse_count(std::string_view what, std::string_view text, count_bounds bounds);

/// A range of whole numbers, both ends included: 1..10G.
struct count_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// @throws parameter_error
[[nodiscard]] count_range parse_range(std::string_view what, std::string_view text, std::uint64_t most);

struct rate_bounds {
  double least = 0;
  double most = 1;
};

/// A probability or share: 1e-6, 0.001, 0.1%.    @throws parameter_error
[[nodiscard]] double parse_rate(std::string_view what, std::string_view text, rate_bounds bounds);

/// A duration, as read_duration() reads it: 10m, 1h30m, 30 days. At most 36500 days.
/// @throws parameter_error
[[nodiscard]] std::chrono::milliseconds parse_duration(
    std::string_view what, std::string_view text,
    std::chrono::milliseconds least = std::chrono::milliseconds(1));

/// 12,345,678
[[nodiscard]] std::string format_count(std::uint64_t count);

/// Bytes with a unit and three digits: 64 B, 1.50 KiB, 34.3 MiB.
[[nodiscard]] std::string format_bytes(double bytes);

/// A rate as printed: 0, or two digits and a power of ten, as in 9.5e-07.
[[nodiscard]] std::string format_rate(double rate);

/// A rate as typed, with at most three digits: 1e-6, 0.01.
[[nodiscard]] std::string typed_rate(double rate);

}  // namespace everseen
