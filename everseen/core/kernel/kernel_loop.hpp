#pragma once

// The one algorithm behind every kernel. Each kernel_<isa>.cpp includes it and is compiled for its CPU.
// Everything here is a template over the Isa, so that no two of them share a symbol.
//
// An Isa provides, for a whole 64-byte line:
//   using line;                                    the bits of one key in one line
//   static line pattern_8x64(uint64_t pattern);
//   static line pattern_16x32(uint64_t pattern);
//   static bits missing(const std::byte*, line);   what of the pattern is not set there; words may be merged
//   static bits either(bits, bits);
//   static bool is_empty(bits);
//   static void set(std::byte*, line);
// A key of two lines is tested once, which is 6 to 18 % faster than once a line (doc/measurements.md).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/kernel/kernel_table.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen::kernel_loop {

/// Keys between prefetch and use. More than the ~17 line-fill buffers of a core: a prefetch then waits in the
/// queue, not in the pipeline.
inline constexpr std::size_t distance = 32;
/// Operands of __builtin_prefetch. Prefetching into L2 is 5-10 % faster than into L1 for segments in DRAM:
/// doc/measurements.md, "Prefetch ring".
inline constexpr int for_read = 0;
inline constexpr int into_l2 = 2;

/// A key in a one-line or two-line layout.
template <typename Isa, layout_kind Layout>
struct line_key {
  static constexpr bool has_lines = true;
  static constexpr bool two = lines_per_key(Layout) == 2;

  [[gnu::always_inline]] static std::size_t offset(draw::line_source source, const geometry& shape) noexcept {
    return draw::reduce(source.index, shape.lines()) * line_bytes;
  }
  [[gnu::always_inline]] static typename Isa::line pattern(draw::line_source source) noexcept {
    if constexpr (words_per_line(Layout) == 8)
      return Isa::pattern_8x64(source.pattern);
    else
      return Isa::pattern_16x32(source.pattern);
  }

  [[gnu::always_inline]] static void prefetch(const std::byte* segment, const geometry& shape,
                                              const digest& d) noexcept {
    __builtin_prefetch(segment + offset(draw::first_line(d), shape), for_read, into_l2);
    if constexpr (two) __builtin_prefetch(segment + offset(draw::second_line(d), shape), for_read, into_l2);
  }

  [[gnu::always_inline]] static bool check(const std::byte* segment, const geometry& shape,
                                           const digest& d) noexcept {
    const draw::line_source first = draw::first_line(d);
    auto missing = Isa::missing(segment + offset(first, shape), pattern(first));
    if constexpr (two) {
      const draw::line_source second = draw::second_line(d);
      missing = Isa::either(missing, Isa::missing(segment + offset(second, shape), pattern(second)));
    }
    return Isa::is_empty(missing);
  }

  [[gnu::always_inline]] static bool add(std::byte* segment, const geometry& shape,
                                         const digest& d) noexcept {
    const draw::line_source first = draw::first_line(d);
    auto missing = add_line(segment + offset(first, shape), pattern(first));
    if constexpr (two) {
      const draw::line_source second = draw::second_line(d);
      missing = Isa::either(missing, add_line(segment + offset(second, shape), pattern(second)));
    }
    return Isa::is_empty(missing);
  }

 private:
  [[gnu::always_inline]] static auto add_line(std::byte* line, typename Isa::line bits) noexcept {
    const auto missing = Isa::missing(line, bits);
    Isa::set(line, bits);
    return missing;
  }
};

/// A key whose bits are scattered. The same for every Isa, which is a parameter so that no symbol is shared.
template <typename Isa, typename Positions>
struct scattered_key {
  static constexpr bool has_lines = false;

  [[gnu::always_inline]] static void prefetch(const std::byte* segment, const geometry& shape,
                                              const digest& d) noexcept {
    Positions positions(d, shape.bits());
    for (unsigned i = 0; i < shape.probes; ++i)
      __builtin_prefetch(segment + positions.next() / 8, for_read, into_l2);
  }
  [[gnu::always_inline]] static bool check(const std::byte* segment, const geometry& shape,
                                           const digest& d) noexcept {
    Positions positions(d, shape.bits());
    for (unsigned i = 0; i < shape.probes; ++i) {
      const std::uint64_t p = positions.next();
      if ((segment[p / 8] & mask(p)) == std::byte{0}) return false;
    }
    return true;
  }
  [[gnu::always_inline]] static bool add(std::byte* segment, const geometry& shape,
                                         const digest& d) noexcept {
    Positions positions(d, shape.bits());
    std::byte missing{0};
    for (unsigned i = 0; i < shape.probes; ++i) {
      const std::uint64_t p = positions.next();
      missing |= ~segment[p / 8] & mask(p);
      segment[p / 8] |= mask(p);
    }
    return missing == std::byte{0};
  }

 private:
  [[gnu::always_inline]] static std::byte mask(std::uint64_t p) noexcept {
    return static_cast<std::byte>(0x80U >> (p % 8));
  }
};

/// Processes a batch behind the prefetch ring. `Visit` is `bool(const digest&)`: seen?
///
/// If a segment does not start on a cache line, each of its lines spans two cache lines and both are
/// prefetched. This happens in a Redis string, whose bytes follow a header.
template <typename Key, typename Visit>
[[gnu::always_inline]] inline std::uint64_t walk(const std::byte* segment, const geometry& shape,
                                                 std::span<const digest> digests, verdict* out,
                                                 Visit visit) noexcept {
  const std::size_t n = digests.size();
  std::uint64_t seen = 0;
  const auto judge = [&](std::size_t i) {
    const bool all = visit(digests[i]);
    out[i] = static_cast<verdict>(all);
    seen += all;
  };
  const bool both_halves = Key::has_lines && reinterpret_cast<std::uintptr_t>(segment) % line_bytes != 0;
  const auto prefetch = [&](std::size_t i) {
    Key::prefetch(segment, shape, digests[i]);
    if (both_halves) Key::prefetch(segment + line_bytes - 1, shape, digests[i]);
  };
  std::size_t i = 0;
  if (shape.bytes > kernel_table::cached_bytes) {
    for (std::size_t ahead = 0; ahead < std::min(n, distance); ++ahead) prefetch(ahead);
    for (; i + distance < n; ++i) {
      prefetch(i + distance);
      judge(i);
    }
  }
  for (; i < n; ++i) judge(i);
  return n - seen;
}

template <typename Key>
std::uint64_t check(const std::byte* segment, const geometry& shape_in, std::span<const digest> digests,
                    verdict* out) noexcept {
  const geometry shape = shape_in;  // a copy, which stores through `out` cannot alias
  return walk<Key>(segment, shape, digests, out,
                   [&](const digest& d) { return Key::check(segment, shape, d); });
}

template <typename Key>
std::uint64_t add(std::byte* segment, const geometry& shape_in, std::span<const digest> digests,
                  verdict* out) noexcept {
  const geometry shape = shape_in;
  return walk<Key>(segment, shape, digests, out,
                   [&](const digest& d) { return Key::add(segment, shape, d); });
}

template <typename Isa>
std::uint64_t check_any(const std::byte* segment, const geometry& shape, std::span<const digest> digests,
                        verdict* out) noexcept {
  using enum layout_kind;
  switch (shape.layout) {
    case classic:
      return check<scattered_key<Isa, draw::positions>>(segment, shape, digests, out);
    case guava32:
      return check<scattered_key<Isa, draw::guava32_positions>>(segment, shape, digests, out);
    case guava64:
      return check<scattered_key<Isa, draw::guava64_positions>>(segment, shape, digests, out);
    case redisbloom:
      return check<scattered_key<Isa, draw::redisbloom_positions>>(segment, shape, digests, out);
    case line_8x64:
      return check<line_key<Isa, line_8x64>>(segment, shape, digests, out);
    case line_16x32:
      return check<line_key<Isa, line_16x32>>(segment, shape, digests, out);
    case two_line_8x64:
      return check<line_key<Isa, two_line_8x64>>(segment, shape, digests, out);
    case two_line_16x32:
      return check<line_key<Isa, two_line_16x32>>(segment, shape, digests, out);
  }
  __builtin_unreachable();
}

template <typename Isa>
std::uint64_t add_any(std::byte* segment, const geometry& shape, std::span<const digest> digests,
                      verdict* out) noexcept {
  using enum layout_kind;
  switch (shape.layout) {
    case classic:
      return add<scattered_key<Isa, draw::positions>>(segment, shape, digests, out);
    case guava32:
      return add<scattered_key<Isa, draw::guava32_positions>>(segment, shape, digests, out);
    case guava64:
      return add<scattered_key<Isa, draw::guava64_positions>>(segment, shape, digests, out);
    case redisbloom:
      return add<scattered_key<Isa, draw::redisbloom_positions>>(segment, shape, digests, out);
    case line_8x64:
      return add<line_key<Isa, line_8x64>>(segment, shape, digests, out);
    case line_16x32:
      return add<line_key<Isa, line_16x32>>(segment, shape, digests, out);
    case two_line_8x64:
      return add<line_key<Isa, two_line_8x64>>(segment, shape, digests, out);
    case two_line_16x32:
      return add<line_key<Isa, two_line_16x32>>(segment, shape, digests, out);
  }
  __builtin_unreachable();
}

}  // namespace everseen::kernel_loop
