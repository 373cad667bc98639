#include "everseen/store/memory/memory_segments.hpp"

#include <cstddef>

#include <gtest/gtest.h>

#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/spec.hpp"

#include "test/support/huge_pages.hpp"

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

}  // namespace
}  // namespace everseen
