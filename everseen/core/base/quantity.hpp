#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// Numbers and lengths of time as people type them, in options, URLs, configuration, HTTP and CONFIG: one
/// grammar. A quantity is a number and a unit of its kind; the whole text must match.
///
/// A number is 1000000, 1,000,000, 1_000_000, 1e6 or 1.5; with its unit it is whole.
namespace everseen {

/// Kinds of quantities, by their units.
enum class quantity : std::uint8_t {
  count,        ///< none, k or K, M, G, T: powers of 1000; Ki, Mi, Gi, Ti: of 1024. A B for bytes may follow
  redis_bytes,  ///< of CONFIG, and of a module: none, b, k, m, g: of 1000; kb, mb, gb: of 1024. Of either
                ///< case, and the number is digits alone, as in Redis
  /// ms, s, m, h, d, w, and their words: sec, secs, second, seconds, min, minutes, ... In milliseconds. One
  /// or more numbers with units, with or without a blank between: 1h30m, 30 days. What a month or a year
  /// would be is unclear, so there are none.
  duration,
};

enum class quantity_fault : std::uint8_t { none, no_number, no_unit, not_whole, too_large };

struct quantity_read {
  std::uint64_t value = 0;  ///< at most 2^63 - 1; of counts, 2^64 - 1
  quantity_fault fault = quantity_fault::none;
};
[[nodiscard]] quantity_read read_quantity(quantity kind, std::string_view text) noexcept;

// The same within bounds. An error names the option, the value and the bounds.

/// Whether the message may show the value; in a URL it may be part of a password.
enum class shows_value : bool { no, yes };

struct count_bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
/// @param name  the option, for the message    @throws parameter_error
[[nodiscard]] std::uint64_t parse_count(std::string_view name, std::string_view text, count_bounds bounds,
                                        shows_value shown = shows_value::yes);

struct duration_bounds {
  std::chrono::milliseconds least{1};
  std::chrono::milliseconds most = std::chrono::hours(24) * 36'500;
};
/// @throws parameter_error
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view name, std::string_view text,
                                                       duration_bounds bounds = {},
                                                       shows_value shown = shows_value::yes);

/// A range of whole numbers, both ends included: 1..10G.
struct count_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// @throws parameter_error
[[nodiscard]] count_range parse_range(std::string_view name, std::string_view text, std::uint64_t most);

struct rate_bounds {
  double least = 0;
  double most = 1;
};
/// A probability or share: 1e-6, 0.001, 0.1%.    @throws parameter_error
[[nodiscard]] double parse_rate(std::string_view name, std::string_view text, rate_bounds bounds);

/// The shortest text that is read as the same duration: 1h30m.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds time);

}  // namespace everseen
