#include "everseen/jobs/deferred_ledger.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"

#include "test/support/claimed_events.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DeferredLedger : public testing::Test {
 protected:
  deferred_ledger open(const std::string& description) {
    return {*seen, "job", description, [description](const std::string& before) {
              if (before != description) throw parameter_error("begun with " + before);
            }};
  }
  std::string verdicts_of(ledger& job, std::uint64_t from, std::size_t count) {
    const auto events = test::new_events(keys, from, count);
    return test::text_of(test::claim_events(job, seen->get_spec(), {"lane", 0}, events).verdicts);
  }

  std::shared_ptr<store> place = open_store("mem:");
  std::shared_ptr<stored_filter> seen =
      place->create("f", place->plan({.capacity = 1000, .error_rate = 1e-12}));
  test::random_digests keys{5};
};

TEST_F(DeferredLedger, LeavesNothingBehindBeforeTheFirstClaim) {
  {
    auto idle = open("with a slip");
    EXPECT_THAT(idle.checkpoints(), IsEmpty());
    idle.settle({});
  }
  EXPECT_THAT(place->jobs("f"), IsEmpty());
  auto job = open("as it should be");
  EXPECT_EQ(verdicts_of(job, 0, 3), "000");
  EXPECT_THAT(place->jobs("f"), ElementsAre("job"));
  EXPECT_EQ(seen->open_ledger("job", "")->description(), "as it should be");
}

TEST_F(DeferredLedger, RefusesAJobWithOtherOptions) {
  auto late = open("late");
  auto first = open("first");
  first.settle(std::vector<checkpoint>{{"lane", 3, ""}});
  EXPECT_THROW(verdicts_of(late, 0, 3), parameter_error);
  EXPECT_THROW(open("other"), parameter_error);
  EXPECT_EQ(open("first").checkpoints().at("lane").position, 3U);
}

TEST_F(DeferredLedger, KnowsSettlementsOfAnotherWorker) {
  const auto one = open("same");
  auto two = open("same");
  two.settle(std::vector<checkpoint>{{"lane", 7, ""}});
  EXPECT_EQ(one.checkpoints().at("lane").position, 7U);
}

TEST_F(DeferredLedger, HasTheSizeOfItsJob) {
  auto job = open("sized");
  EXPECT_EQ(job.size().counters, 0U);
  auto events = test::new_events(keys, 0, 3);
  for (test::event& each : events) each.counters = {"total"};
  (void)test::claim_events(job, seen->get_spec(), {"lane", 0}, events);
  EXPECT_GT(job.size().counters, 0U);
  EXPECT_EQ(job.size().counters, seen->open_ledger("job", std::nullopt)->size().counters);
}

TEST_F(DeferredLedger, RefusesAnInvalidNameBeforeAnythingIsRead) {
  EXPECT_THROW(deferred_ledger(*seen, "", "", [](const auto&) {}), parameter_error);
}

}  // namespace
}  // namespace everseen
