#include "everseen/store/memory/memory_segments.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace everseen
