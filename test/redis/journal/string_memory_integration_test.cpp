// What the strings of segments take in the memory of a server. Redis gives a string that is made longer more
// than it needs, and keeps it: as much again, or a MiB for long strings.

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/spec/growth.hpp"

#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::random_digests;

class StringMemory : public JudgedByClients {
 protected:
  /// The sizes of the allocator are up to a quarter apart; the rest is for the key.
  void expect_exact_segments(const std::string& name, const stored_filter& filter) {
    const filter_keys keys = identity_at(server_, name, {}).keys;
    for (const slice_state& slice : filter.state(0).slices)
      for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
        const std::string key = keys.segment({0, slice.index, layer});
        const std::uint64_t bytes = slice.layers[layer].shape.bytes;
        ASSERT_EQ(length_of(key), bytes);
        EXPECT_LE(std::stoull(server_.run({"MEMORY", "USAGE", key})), bytes + bytes / 4 + 256)
            << "for " << bytes << " bytes";
      }
  }

  random_digests random_{31};
};

TEST_F(StringMemory, OfALongSegmentIsExactAfterACheckpoint) {
  const auto filter = make({.capacity = 200'000, .error_rate = 1e-9, .partitions = 1});
  (void)fill_to_the_brink(*filter, random_);
  EXPECT_EQ(fresh_in(add_keys(*filter, random_.take(100))), 100U);
  ASSERT_EQ(journal_bytes(), 0U) << "there was a checkpoint";
  expect_exact_segments("clicks", *filter);
}

TEST_F(StringMemory, OfTheSegmentsOfAWindowIsExactAfterACheckpoint) {
  const auto filter =
      make({.capacity = 20'000, .error_rate = 0.01, .window = window_spec{10s, 10}, .partitions = 1});
  const std::string begin = field("begin");
  for (int second = 0; field("begin") == begin; ++second) {
    ASSERT_LT(second, 1000) << "there was no checkpoint";
    ASSERT_TRUE(add_keys(*filter, random_.take(15'000), event_time(second * 1s)).result);
  }
  expect_exact_segments("clicks", *filter);
}

TEST_F(StringMemory, OfARestoredSegmentIsExact) {
  for (const std::uint64_t capacity : {1'000U, 30'000U, 900'000U}) {
    const std::string name = "copy " + std::to_string(capacity);
    const spec s = judged_by_clients({.capacity = capacity, .error_rate = 1e-6, .partitions = 1});
    const auto target = store_->begin_restore(name, s);
    const auto plan = growth::plan_layer(s, 0);
    (void)target->add_segment({0, 0, 0}, {plan.shape, plan.capacity, 0});
    target->commit();
    expect_exact_segments(name, *client(name));
  }
}

}  // namespace
}  // namespace everseen::redis
