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

TEST(ChunkHeader, IsRefusedIfTheLengthsOfItsSegmentsAddUpToMoreThanAnyMemory) {
  announced_filter f{make_spec({.capacity = 1'000'000, .partitions = 32})};
  const growth::layer_plan plan = growth::plan_layer(f.spec, 0);
  for (std::uint32_t partition = 0; partition < 32; ++partition) {
    layer_state layer{plan.shape, plan.capacity, 0};
    layer.shape.bytes = std::uint64_t{1} << 59;
    f.segments.push_back({{partition, window::timeless, 0}, layer});
  }
  EXPECT_EQ(f.bit_bytes(), 0) << "the sum overflows";
  EXPECT_THROW((void)image::decode_chunk_header(image::encode_chunk_header(f)), format_error);
  f.segments.resize(1);
  EXPECT_EQ(image::decode_chunk_header(image::encode_chunk_header(f)).bit_bytes(), std::uint64_t{1} << 59);
}

}  // namespace
}  // namespace everseen
