// Opening or creating with one call, in the stores that need no server.

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr spec_request asked{.capacity = 5'000, .error_rate = 1e-4};

std::string refusal(store& in, const spec_request& request) {
  try {
    (void)open_or_create(in, "f", request);
  } catch (const parameter_error& e) {
    return e.what();
  }
  return "none";
}

TEST(OpenOrCreate, CreatesAFilterAsRequestedAndOpensItAfterwards) {
  const test::scratch_directory scratch;
  const std::string url = "file:" + scratch.path().string();
  EXPECT_EQ(open_or_create(url, "f", asked).add("a"), verdict::fresh);
  filter again = open_or_create(url, "f", asked);
  EXPECT_EQ(again.add("a"), verdict::seen);
  EXPECT_EQ(again.get_spec().capacity, 5'000u);
}

TEST(OpenOrCreate, EmptyRequestAcceptsAnyFilter) {
  memory_store filters;
  filter f =
      open_or_create(filters, "f", {.capacity = 7, .growth = growth_kind::refuse, .window = window_spec{1h}});
  EXPECT_EQ(f.add("a", event_time{}), verdict::fresh);
  EXPECT_EQ(open_or_create(filters, "f").add("a", event_time{}), verdict::seen);
}

TEST(OpenOrCreate, NamesEachDifferenceFromTheExistingFilter) {
  memory_store filters;
  (void)open_or_create(filters, "f", asked);
  EXPECT_EQ(refusal(filters, asked), "none");
  EXPECT_THAT(refusal(filters, {.capacity = 6'000, .error_rate = 1e-3, .window = window_spec{10min}}),
              AllOf(HasSubstr("'f'"), HasSubstr("capacity 5000 instead of 6000"),
                    HasSubstr("error_rate 1e-04 instead of 0.001"),
                    HasSubstr("window none instead of 600000 ms in 10 slices")));
  EXPECT_EQ(open_or_create(filters, "f").info().keys, 0u) << "a refused request changes nothing";
}

TEST(OpenOrCreate, FilterThatHasExpiredIsCreatedAgain) {
  const test::scratch_directory scratch;
  const std::string url = "file:" + scratch.path().string();
  {
    filter f = open_or_create(url, "f", asked);
    ASSERT_EQ(f.add("a"), verdict::fresh);
  }
  open_store(url)->expire_at("f", event_time(1ms));
  EXPECT_EQ(open_or_create(url, "f", {.capacity = 9}).add("a"), verdict::fresh);
}

TEST(OpenOrCreate, NewFilterHasTheRequestedTimeToLive) {
  memory_store filters;
  (void)open_or_create(filters, "f", asked, 1h);
  EXPECT_TRUE(filters.facts("f").expires_at);
  (void)open_or_create(filters, "f", asked);
  EXPECT_TRUE(filters.facts("f").expires_at);
  (void)open_or_create(filters, "g", asked);
  EXPECT_FALSE(filters.facts("g").expires_at);
}

TEST(OpenOrCreate, RefusesAnImpossibleRequestWhetherTheFilterExistsOrNot) {
  memory_store filters;
  const spec_request impossible{.error_rate = 2};
  EXPECT_THAT(refusal(filters, impossible), HasSubstr("error_rate 2"));
  (void)open_or_create(filters, "f");
  EXPECT_THAT(refusal(filters, impossible), HasSubstr("error_rate 2"));
}

}  // namespace
}  // namespace everseen
