#include "everseen/store/memory/memory_store.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/spec.hpp"

#include "test/support/claimed_events.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;

spec memory_spec() {
  spec_request r;
  r.capacity = 1'000;
  return make_spec(r);
}

TEST(MemoryStore, KnowsWhichFiltersAskAFilterFirst) {
  memory_store place;
  for (const char* name : {"old", "new", "other"}) (void)place.create(name, memory_spec());
  place.link("old", "new", std::nullopt);
  EXPECT_THROW(place.drop("old"), parameter_error);
  EXPECT_THROW(place.rename("old", "else", store::namesake::refuse), parameter_error);
  EXPECT_THROW(place.link("old", "other", std::nullopt), parameter_error) << "only one filter may ask it";
  place.drop("new");
  place.drop("old");
}

TEST(MemoryStore, ForgetsWhichFiltersAskedOnceTheLinkEnds) {
  event_time time{1h};
  memory_store place([&] { return time; });
  for (const char* name : {"old", "new", "other"}) (void)place.create(name, memory_spec());
  place.link("old", "new", 1min);
  time += 2min;
  place.link("old", "other", std::nullopt);
  place.drop("new");
  EXPECT_THROW(place.drop("old"), parameter_error) << "another filter asks it now";
  place.unlink("other");
  place.drop("old");
}

TEST(MemoryStore, KnowsWhichFiltersAskAFilterThatEndedAndWasMadeAgain) {
  event_time time{1h};
  memory_store place([&] { return time; });
  (void)place.create("old", memory_spec(), 1min);
  (void)place.create("new", memory_spec());
  place.link("old", "new", std::nullopt);
  time += 2min;
  place.remove_expired();
  (void)place.create("old", memory_spec());
  EXPECT_THROW(place.drop("old"), parameter_error);
}

// A reset empties one partition after the other, and comes to the last one late.
TEST(MemoryStore, ResetThatBeganBeforeARenameTakesNoKeyThatWasAddedAfterIt) {
  spec many = memory_spec();
  many.partitions = 16'384;
  memory_store place;
  const auto filter = place.create("a", many);
  std::vector<digest> keys = test::random_digests(2).take(1'000'000);
  std::erase_if(keys,
                [&](const digest& key) { return partition_of(key, many.partitions) + 1 < many.partitions; });
  std::atomic<int> resets = 0;
  const std::jthread resetting([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) try {
        place.reset("a");
        ++resets;
      } catch (const no_filter&) {  // it is b
      }
  });
  for (int round = 0; round < 20; ++round) {
    for (const int before = resets; resets < before + 2;) std::this_thread::yield();
    place.rename("a", "b", store::namesake::refuse);
    test::answered(test::add_keys(*filter, keys));
    std::this_thread::sleep_for(1ms);
    const auto again = test::answered(test::add_keys(*filter, keys));
    ASSERT_EQ(std::ranges::count(again.verdicts, verdict::seen), std::ssize(keys)) << "in round " << round;
    place.rename("b", "a", store::namesake::refuse);
  }
}

TEST(MemoryStore, CountsTheFreshEventsOfAJobOnce) {
  memory_store place;
  const auto filter = place.create("f", memory_spec());
  const auto job = filter->open_ledger("job", "what");
  test::random_digests source(1);
  auto events = test::new_events(source, 0, 3);
  events[2].key = events[0].key;
  for (test::event& each : events) each.counters = {"all", each.position == 1 ? "odd" : "even"};
  const auto first = test::claim_events(*job, memory_spec(), {"lane", 0}, events);
  EXPECT_EQ(test::text_of(first.verdicts), "001");
  const std::map<std::string, std::int64_t> once = {{"all", 2}, {"even", 1}, {"odd", 1}};
  EXPECT_EQ(test::counters_of(*job), once);
  EXPECT_EQ(test::claim_events(*job, memory_spec(), {"lane", 0}, events).verdicts, first.verdicts);
  EXPECT_EQ(test::counters_of(*job), once) << "the same events again";
}

}  // namespace
}  // namespace everseen
