#include "everseen/store/memory/memory_segments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/journal_record.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/spec.hpp"

#include "test/support/huge_pages.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/small_pages.hpp"

namespace everseen {
namespace {

/// A partition with one segment of some 270 MB, none of which is touched.
class LargeSegment : public testing::Test {
 protected:
  void SetUp() override {
    spec_request r;
    r.capacity = 60'000'000;
    r.error_rate = 1e-6;
    r.partitions = 1;
    const growth::layer_plan plan = growth::plan_layer(make_spec(r), 0);
    ASSERT_GT(plan.shape.bytes, std::size_t{200} << 20);
    bytes = plan.shape.bytes;
    place.create(id, plan.shape, plan.capacity);
  }

  memory_segments place{1};
  segment_id id{0, 0, 0};
  std::size_t bytes = 0;
};

TEST_F(LargeSegment, HasHugePagesFromTheFirstOfManyKeys) {
  if (!test::kernel_has_huge_pages()) GTEST_SKIP() << "by this kernel";
  place.expect_keys(id, 1'000'000);
  for (std::size_t offset = 0; offset < bytes; offset += bytes / 1'000) place.at(id)[offset] = std::byte{1};
  EXPECT_GE(test::huge_kib_at(place.at(id)), bytes / 1024 / 2) << "the kernel may lack some";
}

TEST_F(LargeSegment, HasSmallPagesWhileItHasFewKeys) {
  place.expect_keys(id, 1'000);
  for (std::size_t offset = 0; offset < bytes; offset += bytes / 1'000) place.at(id)[offset] = std::byte{1};
  EXPECT_EQ(test::huge_kib_at(place.at(id)), 0U);
}

/// Has one segment in small pages, none of which is touched.
class SmallPages : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_write_first()) GTEST_SKIP() << "in this build";
    (void)filter_.check({0, keys_, {}, out_});
  }
  void expect_a_fault_for_each_page(std::int64_t faults) const {
    const auto pages = static_cast<std::int64_t>(filter_.state().bytes() / 4096);
    EXPECT_GT(pages, 200);
    EXPECT_LE(faults, pages + 40) << "some are for lists and code";
  }

  const spec spec_ = make_spec({.capacity = 1'000'000, .partitions = 1});  // less than a huge page
  memory_segments place_{1};
  partition filter_{spec_, 0, place_};
  const std::vector<digest> keys_ = test::random_digests(3).take(3'000);
  std::vector<verdict> out_ = std::vector<verdict>(keys_.size());
};

TEST_F(SmallPages, AreOnePageFaultEachWhereABatchTouchesThemFirst) {
  const std::int64_t before = test::page_faults();
  ASSERT_TRUE(filter_.add({0, keys_, {}, out_}));
  expect_a_fault_for_each_page(test::page_faults() - before);
}

TEST_F(SmallPages, AreOnePageFaultEachWhereARecordTouchesThemFirst) {
  journal_record record;
  record.groups.push_back({window::timeless, keys_.size()});
  record.keys = keys_;
  const std::int64_t before = test::page_faults();
  filter_.apply(record);
  expect_a_fault_for_each_page(test::page_faults() - before);
}

constexpr std::size_t mib = std::size_t{1} << 20;

bool is_zero(const std::byte* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b == std::byte{0}; });
}

TEST(HugeMemory, IsZeroedAndAlignedWhateverItsSize) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, 128 * mib / 1024, 2 * mib, 5 * mib + 64})
    for (const auto pages : {huge_memory::pages::huge, huge_memory::pages::small}) {
      const huge_memory memory(bytes, pages);
      EXPECT_EQ(memory.size(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U) << bytes;
      EXPECT_TRUE(is_zero(memory.data(), bytes)) << bytes;
    }
}

TEST(HugeMemory, KeepsItsBytesWhenItsPagesAreGathered) {
  huge_memory memory(70 * mib, huge_memory::pages::small);
  for (std::size_t offset = 0; offset < memory.size(); offset += 50'000) memory.data()[offset] = std::byte{7};
  for (int more_often_than_needed = 0; more_often_than_needed < 5; ++more_often_than_needed) memory.gather();
  for (std::size_t offset = 0; offset < memory.size(); ++offset)
    ASSERT_EQ(memory.data()[offset], offset % 50'000 == 0 ? std::byte{7} : std::byte{0}) << offset;
}

// The kernel may find no free huge page now and then, hence half.
TEST(HugeMemory, ConsistsOfHugePagesWhereTheKernelHasThem) {
  const huge_memory memory(200 * mib);
  for (std::size_t offset = 0; offset < memory.size(); offset += 2 * mib)
    memory.data()[offset] = std::byte{1};
  EXPECT_GE(test::huge_kib_at(memory.data()), test::kernel_has_huge_pages() ? 100 * mib / 1024 : 0);
}

TEST(HugeMemory, TakesLittleUntilItsPagesAreGatheredAndThenHugePages) {
  huge_memory memory(200 * mib, huge_memory::pages::small);
  for (std::size_t offset = 0; offset < memory.size(); offset += 2 * mib)
    memory.data()[offset] = std::byte{1};
  EXPECT_EQ(test::huge_kib_at(memory.data()), 0U);
  for (int i = 0; i < 10; ++i) memory.gather();
  if (!test::kernel_gathers_on_request()) return;
  EXPECT_GE(test::huge_kib_at(memory.data()), test::kernel_has_huge_pages() ? 100 * mib / 1024 : 0);
}

TEST(HugeMemory, CanBeMoved) {
  huge_memory first(3 * mib);
  first.data()[0] = std::byte{1};
  const std::byte* const place = first.data();
  const huge_memory second = std::move(first);
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(second.data()[0], std::byte{1});
}

TEST(HugeMemory, ReportsThatThereIsNotEnoughMemory) {
  EXPECT_THROW(huge_memory(std::size_t{1} << 60), storage_error);
}

}  // namespace
}  // namespace everseen
