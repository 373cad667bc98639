#include "everseen/core/spec/fitting_keys.hpp"

#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/printing.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using enum verdict;

const hasher numbers(hash_kind::murmur3, {}, funnel_kind::int64);
const hasher anything(hash_kind::xxh3, {});

event_time at(int ms) {
  return event_time(std::chrono::milliseconds(ms));
}

class FittingKeys : public testing::Test {
 protected:
  const std::vector<std::string_view> mixed_ = {"x", "1", "y", "2", "3", "z"};
  std::vector<verdict> out_ = std::vector<verdict>(6, unknown);
  fitting_keys some_;
};

TEST_F(FittingKeys, AreAllKeysWhereTheHashAcceptsAny) {
  some_.take(anything, {mixed_, {}, out_});
  EXPECT_EQ(some_.fitting().out.data(), out_.data()) << "nothing is moved";
  EXPECT_EQ(some_.digests().size(), 6U);
  EXPECT_EQ(some_.digests()[5], anything("z"));
  EXPECT_TRUE(some_.give_back(tally{.fresh = 6}));
}

TEST_F(FittingKeys, AreTheKeysThatTheFunnelAcceptsInOrder) {
  some_.take(numbers, {mixed_, {}, out_});
  EXPECT_THAT(some_.fitting().keys, ElementsAre("1", "2", "3"));
  EXPECT_THAT(some_.digests(), ElementsAre(numbers("1"), numbers("2"), numbers("3")));
}

TEST_F(FittingKeys, KeepTheirTimes) {
  const std::vector<event_time> times = {at(0), at(1), at(2), at(3), at(4), at(5)};
  some_.take(numbers, {mixed_, times, out_});
  EXPECT_THAT(some_.fitting().times, ElementsAre(at(1), at(3), at(4)));
  const event_time one = at(7);
  some_.take(numbers, {mixed_, {&one, 1}, out_});
  EXPECT_THAT(some_.fitting().times, ElementsAre(one));
}

TEST_F(FittingKeys, AreEmptyWhereNoKeyFits) {
  const std::string_view word = "word";
  const event_time when = at(1);
  some_.take(numbers, {{&word, 1}, {&when, 1}, std::span(out_).first(1)});
  EXPECT_THAT(some_.fitting().keys, IsEmpty());
  EXPECT_THAT(some_.fitting().times, IsEmpty());
  EXPECT_EQ(some_.give_back(tally{}).error().done, tally{.unknown = 1});
}

TEST_F(FittingKeys, ReturnVerdictsToThePlacesOfTheKeys) {
  some_.take(numbers, {mixed_, {}, out_});
  const auto judged = some_.fitting().out;
  judged[0] = fresh;
  judged[1] = judged[2] = seen;
  const batch_result all = some_.give_back(tally{.fresh = 1, .seen = 2});
  EXPECT_THAT(out_, ElementsAre(unknown, fresh, unknown, seen, seen, unknown));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().why, batch_failure::cause::key);
  EXPECT_EQ(all.error().message, "the key 'x' is not a whole number of 64 bits");
  EXPECT_EQ(all.error().done, (tally{.fresh = 1, .seen = 2, .unknown = 3}));
}

TEST_F(FittingKeys, KeepTheFailureOfTheOthers) {
  some_.take(numbers, {mixed_, {}, out_});
  const batch_result all = some_.give_back(tl::unexpected(
      batch_failure{batch_failure::cause::storage, "the disk is gone", tally{.fresh = 1, .unknown = 2}}));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().why, batch_failure::cause::storage);
  EXPECT_EQ(all.error().done, (tally{.fresh = 1, .unknown = 5}));
}

TEST_F(FittingKeys, AreComputedAnewForEachBatch) {
  some_.take(numbers, {mixed_, {}, out_});
  const std::vector<std::string_view> plain = {"1", "2"};
  some_.take(numbers, {plain, {}, std::span(out_).first(2)});
  EXPECT_EQ(some_.fitting().keys.size(), 2U);
  EXPECT_TRUE(some_.give_back(tally{.fresh = 2}));
}

}  // namespace
}  // namespace everseen
