#include "everseen/core/format/chunk_image.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {
namespace {

announced_filter of_partition_three() {
  announced_filter f{make_spec({.capacity = 1000, .partitions = 4})};
  const auto layer = [&](unsigned index, std::uint64_t keys) {
    const growth::layer_plan plan = growth::plan_layer(f.spec, index);
    return layer_state{plan.shape, plan.capacity, keys};
  };
  f.partition = 3;
  f.segments = segments_of(3, {{7, {layer(0, 5), layer(1, 6)}}, {9, {layer(0, 1)}}});
  return f;
}

TEST(AnnouncedFilter, HasTheStateThatItsSegmentsWereListedFrom) {
  const announced_filter f = of_partition_three();
  ASSERT_EQ(f.segments.size(), 3);
  EXPECT_EQ(f.segments[1].id, (segment_id{3, 7, 1}));
  const partition_state state = state_of(f);
  ASSERT_EQ(state.slices.size(), 2);
  EXPECT_EQ(state.slices[0].index, 7);
  EXPECT_EQ(state.slices[0].layers.size(), 2);
  EXPECT_EQ(state.keys(), 12);
}

TEST(AnnouncedFilter, HasNoStateWithALayerMissingOrASegmentOfAnotherPartition) {
  announced_filter f = of_partition_three();
  f.segments.erase(f.segments.begin());
  EXPECT_THROW((void)state_of(f), format_error);
  f = of_partition_three();
  f.segments.back().id.partition = 2;
  EXPECT_THROW((void)state_of(f), format_error);
}

}  // namespace
}  // namespace everseen
