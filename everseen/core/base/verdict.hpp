#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace everseen {

/// What a filter answers for one key.
///
/// The values are part of the format: kernels output the first two as bytes, and replies contain all four in
/// packed form.
enum class verdict : std::uint8_t {
  fresh = 0,    ///< certainly not added before, as far as the filter promises to remember
  seen = 1,     ///< probably added before; wrong at most at the filter's error rate
  late = 2,     ///< older than the window: neither judged nor added
  unknown = 3,  ///< a failure hid the answer; never converted to another verdict
};

[[nodiscard]] constexpr std::string_view to_string(verdict v) noexcept {
  switch (v) {
    case verdict::fresh:
      return "fresh";
    case verdict::seen:
      return "seen";
    case verdict::late:
      return "late";
    case verdict::unknown:
      return "unknown";
  }
  return "unknown";
}

/// The number of keys of a batch per verdict.
struct tally {
  std::uint64_t fresh = 0;
  std::uint64_t seen = 0;
  std::uint64_t late = 0;
  std::uint64_t unknown = 0;

  constexpr tally& operator+=(const tally& other) noexcept {
    fresh += other.fresh;
    seen += other.seen;
    late += other.late;
    unknown += other.unknown;
    return *this;
  }
  [[nodiscard]] constexpr std::uint64_t keys() const noexcept { return fresh + seen + late + unknown; }
  friend constexpr bool operator==(const tally&, const tally&) = default;
};

/// Counts the keys per verdict.
/// Cost: about 0.1 ns a key, so code that judges need not count. Threads: any.
[[nodiscard]] tally tally_of(std::span<const verdict> verdicts) noexcept;

}  // namespace everseen
