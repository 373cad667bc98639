#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/kernel/kernels.hpp"

#include "test/support/random_digests.hpp"

// Compares every kernel of this CPU with the readable definition of bits (bit_positions) and with each other.

namespace everseen {
namespace {

using test::random_digests;

/// The bytes of a segment at a given distance from the beginning of a cache line, followed by a guard.
class bytes {
 public:
  explicit bytes(std::uint64_t size, std::size_t from_line = 0)
      : size_(size), from_line_(from_line), data_(allocate(size + 2 * line_bytes)) {
    std::memset(data(), 0, size);
    std::memset(data() + size, guard, line_bytes);
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_.get() + from_line_; }
  [[nodiscard]] bool guard_is_intact() const {
    return std::all_of(data() + size_, data() + size_ + line_bytes,
                       [](std::byte b) { return b == std::byte{guard}; });
  }
  [[nodiscard]] bool operator==(const bytes& other) const {
    return size_ == other.size_ && std::memcmp(data(), other.data(), size_) == 0;
  }

 private:
  static constexpr std::uint8_t guard = 0xA5;
  struct release {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{line_bytes}); }
  };
  static std::byte* allocate(std::size_t size) {
    return static_cast<std::byte*>(::operator new (size, std::align_val_t{line_bytes}));
  }
  std::uint64_t size_;
  std::size_t from_line_;
  std::unique_ptr<std::byte, release> data_;
};

/// The definition, evaluated one bit at a time in Redis's numbering.
class definition {
 public:
  explicit definition(const geometry& shape) : shape_(shape), bits_(shape.bytes) {}

  [[nodiscard]] verdict check(const digest& d) const {
    return for_each(d, [&](std::byte& byte, std::byte mask) { return (byte & mask) != std::byte{0}; });
  }
  verdict add(const digest& d) {
    return for_each(d, [&](std::byte& byte, std::byte mask) {
      const bool was_set = (byte & mask) != std::byte{0};
      byte |= mask;
      return was_set;
    });
  }
  [[nodiscard]] const bytes& bits() const noexcept { return bits_; }

 private:
  template <typename Visit>
  verdict for_each(const digest& d, Visit visit) const {
    std::array<std::uint64_t, max_probes> positions;
    const std::size_t n = bit_positions(shape_, d, positions);
    bool seen = true;
    for (std::size_t i = 0; i < n; ++i)
      seen &= visit(bits_.data()[positions[i] >> 3], static_cast<std::byte>(0x80U >> (positions[i] & 7)));
    return seen ? verdict::seen : verdict::fresh;
  }

  geometry shape_;
  bytes bits_;
};

/// A batch in which about every fourth key occurred before, in an older batch or in this one.
std::vector<digest> batch_with_repeats(random_digests& next, std::vector<digest>& known, std::size_t size) {
  std::vector<digest> batch(size);
  for (digest& d : batch) {
    const bool repeat = !known.empty() && next.word() % 4 == 0;
    d = repeat ? known[next.word() % known.size()] : next();
    known.push_back(d);
  }
  return batch;
}

/// A kernel's verdicts, surrounded by bytes that it must not touch.
struct verdicts {
  explicit verdicts(std::size_t n) : all(n + 2, verdict::unknown) {}
  [[nodiscard]] verdict* data() { return all.data() + 1; }
  [[nodiscard]] std::span<const verdict> span() const { return std::span(all).subspan(1, all.size() - 2); }
  [[nodiscard]] std::uint64_t fresh() const {
    return static_cast<std::uint64_t>(std::count(span().begin(), span().end(), verdict::fresh));
  }
  [[nodiscard]] bool neighbours_are_intact() const {
    return all.front() == verdict::unknown && all.back() == verdict::unknown;
  }
  std::vector<verdict> all;
};

void expect_agreement(const kernel& k, const geometry& shape, std::uint64_t seed,
                      std::span<const std::size_t> sizes, std::size_t from_line = 0) {
  SCOPED_TRACE(std::string(k.name) + ", " + std::string(to_string(shape.layout)) + ", " +
               std::to_string(shape.bytes) + " bytes, " + std::to_string(shape.probes) + " probes");
  random_digests next(seed);
  std::vector<digest> known;
  definition truth(shape);
  bytes segment(shape.bytes, from_line);
  const auto compare = [&](std::span<const digest> batch, const verdicts& got, std::uint64_t fresh,
                           auto judge) {
    for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_EQ(got.span()[i], judge(batch[i])) << "key " << i;
    ASSERT_EQ(fresh, got.fresh());
    ASSERT_TRUE(got.neighbours_are_intact());
  };
  for (const std::size_t size : sizes) {
    const std::vector<digest> batch = batch_with_repeats(next, known, size);
    verdicts checked(size);
    const std::uint64_t fresh_to_check = k.check(segment.data(), shape, batch, checked.data());
    compare(batch, checked, fresh_to_check, [&](const digest& d) { return truth.check(d); });
    verdicts added(size);
    const std::uint64_t fresh_to_add = k.add(segment.data(), shape, batch, added.data());
    compare(batch, added, fresh_to_add, [&](const digest& d) { return truth.add(d); });
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_TRUE(segment == truth.bits());
  EXPECT_TRUE(segment.guard_is_intact());
}

geometry shape_of(layout_kind layout, std::uint64_t size, unsigned classic_probes = 7) {
  return {layout, static_cast<std::uint8_t>(probes_of(layout, classic_probes)), size};
}

class Kernels : public testing::TestWithParam<layout_kind> {};

TEST_P(Kernels, MatchTheDefinitionForEveryBatchLength) {
  std::vector<std::size_t> sizes(201);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i;
  for (const kernel& k : available_kernels()) {
    expect_agreement(k, shape_of(GetParam(), 1 << 16), 1, sizes);
    expect_agreement(k, shape_of(GetParam(), (1 << 20) + 64), 2,
                     sizes);  // large enough for the prefetch ring
  }
}

TEST_P(Kernels, AgreeForSegmentsFromOneLineToEightMebibytes) {
  constexpr std::size_t sizes[] = {1, 31, 32, 33, 64, 100};
  for (const kernel& k : available_kernels())
    for (const std::uint64_t size :
         {64UL, 128UL, 192UL, 448UL, 64'000UL, 1UL << 20, 3'000'000UL / 64 * 64, 8UL << 20})
      expect_agreement(k, shape_of(GetParam(), size), size, sizes);
}

// The bytes of a Redis string follow a header of 9.
TEST_P(Kernels, AcceptSegmentsAtAnyAddress) {
  constexpr std::size_t sizes[] = {1, 31, 32, 33, 64, 100, 500};
  for (const kernel& k : available_kernels())
    for (const std::size_t from_line : {1UL, 8UL, 9UL, 32UL, 63UL})
      for (const std::uint64_t size : {64UL, 64'000UL, 3UL << 20})
        expect_agreement(k, shape_of(GetParam(), size), size, sizes, from_line);
}

TEST_P(Kernels, ReportTheFirstOccurrenceInABatchAsFreshAndTheOthersAsSeen) {
  random_digests next(3);
  const digest a = next(), b = next();
  const std::vector<digest> batch = {a, a, b, a, b, b};
  for (const kernel& k : available_kernels()) {
    for (const std::uint64_t size : {64'000UL, 4UL << 20}) {
      const geometry shape = shape_of(GetParam(), size);
      bytes segment(size);
      std::vector<verdict> out(batch.size());
      EXPECT_EQ(k.add(segment.data(), shape, batch, out.data()), 2U);
      using enum verdict;
      EXPECT_EQ(out, (std::vector{fresh, seen, fresh, seen, seen, seen})) << k.name;
    }
  }
}

TEST_P(Kernels, CheckNeverWrites) {
  random_digests next(4);
  const geometry shape = shape_of(GetParam(), 2 << 20);
  for (const kernel& k : available_kernels()) {
    bytes segment(shape.bytes), copy(shape.bytes);
    std::vector<digest> keys = next.take(5'000);
    std::vector<verdict> out(keys.size());
    k.add(segment.data(), shape, keys, out.data());
    std::memcpy(copy.data(), segment.data(), shape.bytes);
    const std::vector<digest> others = next.take(5'000);
    keys.insert(keys.end(), others.begin(), others.end());
    out.resize(keys.size());
    k.check(segment.data(), shape, keys, out.data());
    EXPECT_TRUE(segment == copy) << k.name;
  }
}

TEST_P(Kernels, NeverReportAnAddedKeyAsFresh) {
  const geometry shape = shape_of(GetParam(), 64'000);
  for (const kernel& k : available_kernels()) {
    bytes segment(shape.bytes);
    const std::vector<digest> keys = random_digests(5).take(100'000);  // far more than any sensible load
    std::vector<verdict> out(keys.size());
    k.add(segment.data(), shape, keys, out.data());
    EXPECT_EQ(k.check(segment.data(), shape, keys, out.data()), 0U) << k.name;
  }
}

TEST_P(Kernels, AgreeOnExtremeDigests) {
  // All bits 0, all bits 1, single bits: the ends of every range and shift.
  std::vector<digest> keys = {{0, 0}, {~0UL, ~0UL}, {0, ~0UL}, {~0UL, 0}};
  for (unsigned i = 0; i < 64; ++i) {
    keys.push_back({1UL << i, 0});
    keys.push_back({0, 1UL << i});
    keys.push_back({~(1UL << i), ~0UL});
  }
  for (const std::uint64_t size : {64UL, 192UL, 64'000UL, 2UL << 20}) {
    const geometry shape = shape_of(GetParam(), size);
    definition truth(shape);
    std::vector<verdict> expected;
    for (const digest& d : keys) expected.push_back(truth.add(d));
    for (const kernel& k : available_kernels()) {
      bytes segment(size);
      std::vector<verdict> out(keys.size());
      k.add(segment.data(), shape, keys, out.data());
      EXPECT_EQ(out, expected) << k.name;
      EXPECT_TRUE(segment == truth.bits()) << k.name;
    }
  }
}

std::string name_of(const testing::TestParamInfo<layout_kind>& tested) {
  std::string name(to_string(tested.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, Kernels, testing::ValuesIn(all_layouts), name_of);
INSTANTIATE_TEST_SUITE_P(OtherSystems, Kernels, testing::ValuesIn(foreign_layouts), name_of);

TEST(ForeignKernels, AgreeForSegmentsOfAnyNumberOfWords) {
  constexpr std::size_t sizes[] = {50, 77};
  for (const kernel& k : available_kernels())
    for (const layout_kind layout : foreign_layouts)
      for (const std::uint64_t bytes : {8UL, 16UL, 72UL, 920UL, (1UL << 20) + 8})
        expect_agreement(k, shape_of(layout, bytes), bytes, sizes);
}

TEST(ClassicKernels, AgreeForEveryNumberOfProbes) {
  constexpr std::size_t sizes[] = {50, 77};
  for (const kernel& k : available_kernels())
    for (unsigned probes = 1; probes <= max_probes; ++probes)
      expect_agreement(k, shape_of(layout_kind::classic, 6'400, probes), probes, sizes);
}

TEST(KernelList, BeginsWithScalarAndEndsWithTheBest) {
  ASSERT_FALSE(available_kernels().empty());
  EXPECT_EQ(available_kernels().front().name, "scalar");
  if (std::getenv("EVERSEEN_KERNEL") == nullptr) {
    EXPECT_EQ(best_kernel().name, available_kernels().back().name);
  }
#if defined(__aarch64__)
  EXPECT_EQ(available_kernels().back().name, "neon");
#endif
}

}  // namespace
}  // namespace everseen
