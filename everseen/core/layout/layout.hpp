#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "everseen/core/hash/digest.hpp"

namespace everseen {

/// How a digest becomes bits of a segment. The values are stored in specs and images.
///
/// `classic` spreads its probes over the whole segment: the fewest bits for a rate, one cache miss per probe.
/// A *line* layout puts all bits of a key into one 64-byte cache line (or two): one miss and one vector
/// operation, for a little more memory. sizing.hpp has the exact price of each.
///
/// The last three are those of other systems, for filters imported from or exported to them. They are
/// scattered like classic; foreign.hpp has their other rules.
enum class layout_kind : std::uint8_t {
  classic = 1,         ///< k bits anywhere
  line_8x64 = 2,       ///< one line of 8 words of 64 bits, one bit in each
  line_16x32 = 3,      ///< one line of 16 words of 32 bits, one bit in each
  two_line_8x64 = 4,   ///< two independent lines of 8x64
  two_line_16x32 = 5,  ///< two independent lines of 16x32
  guava32 = 6,         ///< Guava's MURMUR128_MITZ_32
  guava64 = 7,         ///< Guava's MURMUR128_MITZ_64
  redisbloom = 8,      ///< RedisBloom's
};

/// The layouts of everseen's own filters.
inline constexpr std::array all_layouts = {layout_kind::classic, layout_kind::line_8x64,
                                           layout_kind::line_16x32, layout_kind::two_line_8x64,
                                           layout_kind::two_line_16x32};

/// The layouts of other systems' filters.
inline constexpr std::array foreign_layouts = {layout_kind::guava32, layout_kind::guava64,
                                               layout_kind::redisbloom};
static_assert(all_layouts.size() + foreign_layouts.size() ==
                  static_cast<std::size_t>(layout_kind::redisbloom),
              "list a new layout in one of the arrays");

[[nodiscard]] std::string_view to_string(layout_kind kind) noexcept;
/// The layout of this name: one of everseen's own, or one of another system's.
[[nodiscard]] std::optional<layout_kind> parse_own_layout(std::string_view name) noexcept;
[[nodiscard]] std::optional<layout_kind> parse_foreign_layout(std::string_view name) noexcept;

[[nodiscard]] constexpr bool is_foreign(layout_kind kind) noexcept {
  return kind >= layout_kind::guava32 && kind <= layout_kind::redisbloom;
}

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::uint64_t line_bits = 8 * line_bytes;
inline constexpr unsigned max_probes = 64;
/// The maximum for later layers of RedisBloom's chains. Each layer sets one or two bits more than the
/// previous one, until its error rate is the smallest that a double can express.
inline constexpr unsigned max_layer_probes = 1'075;

/// Cache lines per key (0: the bits are scattered).
[[nodiscard]] constexpr unsigned lines_per_key(layout_kind kind) noexcept {
  switch (kind) {
    case layout_kind::classic:
    case layout_kind::guava32:
    case layout_kind::guava64:
    case layout_kind::redisbloom:
      return 0;
    case layout_kind::line_8x64:
    case layout_kind::line_16x32:
      return 1;
    case layout_kind::two_line_8x64:
    case layout_kind::two_line_16x32:
      return 2;
  }
  return 0;
}

/// Whether the bits of a key may be anywhere in the segment; the layout then has probes and no lines.
[[nodiscard]] constexpr bool is_scattered(layout_kind kind) noexcept {
  return lines_per_key(kind) == 0;
}

/// Words per line, which is also the number of bits that a key sets in it: 8 or 16 (0: scattered).
[[nodiscard]] constexpr unsigned words_per_line(layout_kind kind) noexcept {
  switch (kind) {
    case layout_kind::classic:
    case layout_kind::guava32:
    case layout_kind::guava64:
    case layout_kind::redisbloom:
      return 0;
    case layout_kind::line_8x64:
    case layout_kind::two_line_8x64:
      return 8;
    case layout_kind::line_16x32:
    case layout_kind::two_line_16x32:
      return 16;
  }
  return 0;
}

/// The unit of a segment's length in bytes: lines, Guava's words, or the bytes to which early versions of
/// RedisBloom rounded.
[[nodiscard]] constexpr std::uint64_t length_unit(layout_kind kind) noexcept {
  if (kind == layout_kind::redisbloom) return 1;
  return is_foreign(kind) ? sizeof(std::uint64_t) : line_bytes;
}

/// Shape of one segment: everything except the digest that determines the bits of a key.
struct geometry {
  layout_kind layout = layout_kind::line_8x64;
  std::uint16_t probes = 8;  ///< bits set per key; fixed by the layout unless scattered
  std::uint64_t bytes = 64;  ///< length of the segment, a multiple of length_unit(layout)

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return 8 * bytes; }
  [[nodiscard]] constexpr std::uint64_t lines() const noexcept { return bytes / line_bytes; }
  friend constexpr bool operator==(const geometry&, const geometry&) = default;
};

/// Bits that a key sets under a layout; `scattered_probes` is the configured number for scattered layouts.
[[nodiscard]] constexpr unsigned probes_of(layout_kind kind, unsigned scattered_probes) noexcept {
  return is_scattered(kind) ? scattered_probes : lines_per_key(kind) * words_per_line(kind);
}

/// The numbers that layouts derive from a digest: doc/hashing.md, "From digest to bits".
namespace draw {

__extension__ using uint128 = unsigned __int128;

inline constexpr std::uint64_t line_key = 0x9E3779B97F4A7C15;     // 2^64 / golden ratio, odd
inline constexpr std::uint64_t pattern_key = 0xD6E8FEB86659FD93;  // odd, half of its bits set
inline constexpr std::uint64_t upper_key = 0xA0761D6478BD642F;    // odd, half of its bits set
inline constexpr std::uint64_t step_key = 0xD1342543DE82EF95;     // multiplier with a good spectrum mod 2^64

/// x * range / 2^64, rounded down: maps x, uniform in 64 bits, to uniform in [0, range).
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t reduce(std::uint64_t x,
                                                                 std::uint64_t range) noexcept {
  return static_cast<std::uint64_t>((uint128{x} * range) >> 64);
}

/// 64 mixed bits from x: both halves of the 128-bit product, folded.
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t fold(std::uint64_t x, std::uint64_t key) noexcept {
  const uint128 product = uint128{x} * key;
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

/// Two numbers that select the line, and the bits inside it.
struct line_source {
  std::uint64_t index;    ///< reduce(index, lines) is the line
  std::uint64_t pattern;  ///< selects the bits inside
};

[[nodiscard, gnu::always_inline]] constexpr line_source first_line(const digest& d) noexcept {
  return {d.low, d.high};
}
[[nodiscard, gnu::always_inline]] constexpr line_source second_line(const digest& d) noexcept {
  return {fold(d.high, line_key), fold(d.low, pattern_key)};
}

/// Bit (0..63) that a pattern sets in word `w` of a line of 8x64.
[[nodiscard, gnu::always_inline]] constexpr unsigned bit_8x64(std::uint64_t pattern, unsigned w) noexcept {
  return static_cast<unsigned>(pattern >> (6 * w)) & 63;
}

/// Bit (0..31) that a pattern sets in word `w` of a line of 16x32. 16 words need 80 bits, more than a pattern
/// has, so words 8 to 15 use its fold.
[[nodiscard, gnu::always_inline]] constexpr unsigned bit_16x32(std::uint64_t pattern, unsigned w) noexcept {
  const std::uint64_t source = w < 8 ? pattern : fold(pattern, upper_key);
  return static_cast<unsigned>(source >> (5 * (w / 2 % 4) + 32 * (w % 2))) & 31;
}

/// The sequence of positions of a classic key.
///
/// Plain double hashing (x, x+y, x+2y, …) with this reduction would use only the top bits of x and y. Any two
/// keys that agree in those would share all probes, which puts a floor of about n/m² under the error rate;
/// small filters with low rates would reach it. One multiplication per step makes every bit of both words
/// count.
///
/// It starts at `high`: the keys of one partition share bits of `low`, and in a segment of more than 2^32
/// bits a position made of `low` alone would show that.
class positions {
 public:
  [[gnu::always_inline]] positions(const digest& d, std::uint64_t bits) noexcept
      : x_(d.high), y_(d.low), bits_(bits) {}
  [[nodiscard, gnu::always_inline]] std::uint64_t next() noexcept {
    const std::uint64_t position = reduce(x_, bits_);
    x_ = x_ * step_key + y_;
    return position;
  }

 private:
  std::uint64_t x_, y_, bits_;
};

}  // namespace draw

/// Partition of a digest: 0 .. partitions-1. Uses the low half of `low`, which affects no line index below
/// 2^32 lines.
[[nodiscard]] constexpr std::uint32_t partition_of(const digest& d, std::uint32_t partitions) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{static_cast<std::uint32_t>(d.low)} * partitions) >> 32);
}

/// All bits of a key in Redis's numbering (bit p is byte p / 8, mask 0x80 >> p % 8), in probe order.
///
/// The slow, readable definition. `explain` shows it, command sets that address single bits use it, and every
/// vector kernel is tested against it.
/// @return the number of positions written: geometry.probes
/// @pre    out.size() >= geometry.probes
std::size_t bit_positions(const geometry& shape, const digest& d, std::span<std::uint64_t> out) noexcept;

}  // namespace everseen
