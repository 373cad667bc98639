#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/layout.hpp"

/// The comparison behind `everseen plan`: what a set of keys costs in each structure. Pure.
namespace everseen {

/// Two of keys, error rate and memory; the third is what is asked for.
struct plan_request {
  std::optional<std::uint64_t> keys;
  std::optional<double> error_rate;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> values;  ///< how many different keys could exist, where keys are numbers
  std::optional<layout_kind> layout{};  ///< taken, whatever would be picked
  std::optional<unsigned> probes{};     ///< of the classic layout; else those that need the least memory
};

struct plan_row {
  std::string structure;
  std::optional<layout_kind> layout;  ///< none: not a Bloom filter
  std::uint64_t bytes = 0;
  std::uint64_t keys = 0;
  unsigned probes = 0;
  unsigned lines = 0;  ///< cache lines of 64 bytes that a look-up touches
  double error_rate = 0;
  geometry shape{};  ///< of a Bloom filter

  [[nodiscard]] double bits_per_key() const noexcept {
    return 8 * static_cast<double>(bytes) / static_cast<double>(keys);
  }
};

struct plan_result {
  std::vector<plan_row> rows;
  std::size_t picked = 0;  ///< index of a row
  std::string reason;      ///< one sentence
  /// Bytes that `everseen create` takes for the same request, with its default of growing later.
  std::optional<std::uint64_t> bytes_when_growing;
};

/// @throws parameter_error  not exactly two of keys, error rate and memory, or numbers that fit no filter
[[nodiscard]] plan_result make_plan(const plan_request& request);

/// Rates of a Bloom filter while it fills beyond what it is for.
struct curve_point {
  std::uint64_t keys = 0;
  double error_rate = 0;
};
/// From none to twice the keys of the row.    @pre row.layout
[[nodiscard]] std::vector<curve_point> curve_of(const plan_row& row);

/// The command line that makes the filter that was picked.
[[nodiscard]] std::string command_of(const plan_request& request, const plan_result& plan);

}  // namespace everseen
