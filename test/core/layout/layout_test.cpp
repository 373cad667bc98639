#include "everseen/core/layout/layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "test/core/layout/shapes.hpp"
#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

using test::random_digests;
using test::shape_of;

constexpr std::uint64_t all_ones = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> positions_of(const geometry& shape, const digest& d) {
  std::vector<std::uint64_t> out(max_probes, all_ones);
  out.resize(bit_positions(shape, d, out));
  return out;
}

/// Chi-square of counts that should all be equal, in standard deviations from the expected value.
double unevenness(const std::vector<std::uint64_t>& counts) {
  double total = 0, chi_square = 0;
  for (const std::uint64_t n : counts) total += static_cast<double>(n);
  const double expected = total / static_cast<double>(counts.size());
  for (const std::uint64_t n : counts)
    chi_square += std::pow(static_cast<double>(n) - expected, 2) / expected;
  const double freedom = static_cast<double>(counts.size() - 1);
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(Layout, NamesAreParsed) {
  for (const layout_kind layout : all_layouts) {
    EXPECT_EQ(parse_own_layout(to_string(layout)), layout);
    EXPECT_EQ(parse_foreign_layout(to_string(layout)), std::nullopt);
  }
  for (const layout_kind layout : foreign_layouts) {
    EXPECT_EQ(parse_foreign_layout(to_string(layout)), layout);
    EXPECT_EQ(parse_own_layout(to_string(layout)), std::nullopt);
  }
  EXPECT_EQ(parse_own_layout("line"), std::nullopt);
  EXPECT_EQ(parse_own_layout(""), std::nullopt);
  EXPECT_EQ(to_string(layout_kind{77}), "invalid");
}

TEST(Layout, ReductionReachesBothEndsOfARangeAndNeverItsBound) {
  for (const std::uint64_t range : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 32, all_ones}) {
    EXPECT_EQ(draw::reduce(0, range), 0U);
    EXPECT_EQ(draw::reduce(all_ones, range), range - 1);
  }
}

TEST(Layout, EveryPositionIsInsideTheSegment) {
  random_digests next(1);
  for (const layout_kind layout : all_layouts) {
    for (const std::uint64_t bytes : {64U, 128U, 192U, 6400U, 1U << 20}) {
      const geometry shape = shape_of(layout, bytes);
      for (int i = 0; i < 200; ++i)
        for (const std::uint64_t p : positions_of(shape, next())) ASSERT_LT(p, shape.bits());
      for (const digest& d : {digest{0, 0}, digest{all_ones, all_ones}})
        for (const std::uint64_t p : positions_of(shape, d)) ASSERT_LT(p, shape.bits());
    }
  }
}

TEST(Layout, SetsOneBitForEachProbe) {
  for (const layout_kind layout : all_layouts)
    EXPECT_EQ(positions_of(shape_of(layout, 4096), {1, 2}).size(), probes_of(layout, 7));
}

TEST(Layout, ALineKeySetsOneBitInEachWordOfItsLine) {
  random_digests next(2);
  for (const layout_kind layout : {layout_kind::line_8x64, layout_kind::line_16x32}) {
    const geometry shape = shape_of(layout, 100 * line_bytes);
    const std::uint64_t word_bits = line_bits / words_per_line(layout);
    for (int i = 0; i < 200; ++i) {
      const auto positions = positions_of(shape, next());
      std::set<std::uint64_t> words;
      for (const std::uint64_t p : positions) {
        EXPECT_EQ(p / line_bits, positions[0] / line_bits);
        words.insert(p / word_bits);
      }
      EXPECT_EQ(words.size(), words_per_line(layout));
    }
  }
}

TEST(Layout, ATwoLineKeySetsOneBitInEachWordOfBothItsLines) {
  random_digests next(3);
  for (const layout_kind layout : {layout_kind::two_line_8x64, layout_kind::two_line_16x32}) {
    const geometry shape = shape_of(layout, 100 * line_bytes);
    const std::uint64_t word_bits = line_bits / words_per_line(layout);
    for (int i = 0; i < 200; ++i) {
      const auto positions = positions_of(shape, next());
      const auto middle = positions.begin() + words_per_line(layout);
      for (const auto& [from, end] :
           {std::pair{positions.begin(), middle}, std::pair{middle, positions.end()}}) {
        std::set<std::uint64_t> words;
        for (auto p = from; p != end; ++p) {
          EXPECT_EQ(*p / line_bits, *from / line_bits);
          words.insert(*p / word_bits);
        }
        EXPECT_EQ(words.size(), words_per_line(layout));
      }
    }
  }
}

TEST(Layout, EveryBitOfASegmentIsUsedEquallyOften) {
  for (const layout_kind layout : all_layouts) {
    const geometry shape = shape_of(layout, 5 * line_bytes);
    std::vector<std::uint64_t> counts(shape.bits());
    random_digests next(4);
    for (int i = 0; i < 40'000; ++i)
      for (const std::uint64_t p : positions_of(shape, next())) ++counts[p];
    EXPECT_LT(unevenness(counts), 5) << to_string(layout);
  }
}

TEST(Layout, WordsChooseTheirBitsIndependently) {
  // For any two words of a key, all pairs of their bits are equally frequent. 32 x 32 cells: 64 bits folded
  // to the coarser half.
  for (const layout_kind layout : all_layouts) {
    if (layout == layout_kind::classic) continue;
    const geometry shape = shape_of(layout, line_bytes);
    const std::uint64_t word_bits = line_bits / words_per_line(layout);
    const unsigned probes = shape.probes;
    std::vector<std::vector<std::uint64_t>> pairs(probes * probes, std::vector<std::uint64_t>(1024));
    random_digests next(5);
    for (int i = 0; i < 20'000; ++i) {
      const auto p = positions_of(shape, next());
      for (unsigned a = 0; a < probes; ++a)
        for (unsigned b = 0; b < a; ++b)
          ++pairs[a * probes + b][p[a] % word_bits % 32 * 32 + p[b] % word_bits % 32];
    }
    for (unsigned a = 0; a < probes; ++a)
      for (unsigned b = 0; b < a; ++b)
        EXPECT_LT(unevenness(pairs[a * probes + b]), 6) << to_string(layout) << ' ' << a << ' ' << b;
  }
}

TEST(Layout, PartitionsAreUsedEquallyOften) {
  for (const std::uint32_t partitions : {2U, 3U, 64U, 1000U}) {
    std::vector<std::uint64_t> counts(partitions);
    random_digests next(6);
    for (int i = 0; i < 100'000; ++i) ++counts.at(partition_of(next(), partitions));
    EXPECT_LT(unevenness(counts), 5) << partitions;
  }
}

TEST(Layout, KeysOfOnePartitionReachEveryBitOfItsSegments) {
  // Also in segments of more than 2^32 bits, where a position has more bits than the upper half of a digest
  // word.
  constexpr std::uint32_t partitions = 64;
  constexpr unsigned probes = 4;
  const geometry shape = shape_of(layout_kind::classic, std::uint64_t{1} << 35, probes);
  std::vector<std::vector<std::uint64_t>> low_bits(probes, std::vector<std::uint64_t>(64));
  random_digests next(7);
  for (int found = 0; found < 6'400;) {
    const digest d = next();
    if (partition_of(d, partitions) != 5) continue;
    ++found;
    const auto positions = positions_of(shape, d);
    for (unsigned probe = 0; probe < probes; ++probe) ++low_bits[probe][positions[probe] % 64];
  }
  for (unsigned probe = 0; probe < probes; ++probe)
    EXPECT_LT(unevenness(low_bits[probe]), 5) << "probe " << probe;
}

TEST(Layout, KeysOfOnePartitionUseAllLinesAndAllBitsOfALine) {
  constexpr std::uint32_t partitions = 4096;
  for (const layout_kind layout : all_layouts) {
    const geometry shape = shape_of(layout, 2 * line_bytes);
    std::vector<std::uint64_t> counts(shape.bits());
    random_digests next(8);
    for (int found = 0; found < 10'000; ++found) {
      digest d = next();
      d.low &=
          ~std::uint64_t{0xFFFFFFFF};  // partition 0, whose share of the low half is its first 2^20 numbers
      d.low |= next.word() & 0xFFFFF;
      ASSERT_EQ(partition_of(d, partitions), 0U);
      for (const std::uint64_t p : positions_of(shape, d)) ++counts[p];
    }
    EXPECT_LT(unevenness(counts), 5) << to_string(layout);
  }
}

}  // namespace
}  // namespace everseen
