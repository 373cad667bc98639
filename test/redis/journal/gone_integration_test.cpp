// A client that judges from its mirror, and was told that the filter is gone: from then on it answers
// nothing.

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/journal/mirror_set.hpp"

#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using ::testing::Each;
using ::testing::HasSubstr;

struct end_of_filter {
  std::string name;
  std::string says;
  std::function<void(redis_store&, const test::redis_server&)> happen;
};

class FilterThatIsGone : public JudgedByClients, public ::testing::WithParamInterface<end_of_filter> {};

// Promise: after the error that a filter is gone nothing is answered from what a client remembers of it
// (guarantees, Verdicts).
TEST_P(FilterThatIsGone, AnswersNothingAfterTheClientWasTold) {
  random_digests random{31};
  (void)make({.capacity = 10'000, .partitions = 4});
  const auto filter = client();
  const auto known = random.take(100);
  ASSERT_EQ(fresh_in(add_keys(*filter, known)), 100u);
  GetParam().happen(*store_, server_);
  const auto told = add_keys(*filter, random.take(100));
  ASSERT_FALSE(told.result);
  EXPECT_THAT(told.result.error().message, HasSubstr(GetParam().says));
  for (int batch = 0; batch < 3; ++batch) {
    const auto added = add_keys(*filter, known);
    EXPECT_FALSE(added.result);
    EXPECT_THAT(added.verdicts, Each(verdict::unknown)) << batch;
    const auto checked = check_keys(*filter, known);
    EXPECT_FALSE(checked.result);
    EXPECT_THAT(checked.verdicts, Each(verdict::unknown)) << batch;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ends, FilterThatIsGone,
    ::testing::Values(
        end_of_filter{"dropped", "gone",
                      [](redis_store& store, const test::redis_server&) { store.drop("clicks"); }},
        end_of_filter{"flushed", "gone",
                      [](redis_store&, const test::redis_server& server) { (void)server.run({"FLUSHALL"}); }},
        end_of_filter{"replaced", "gone",
                      [](redis_store& store, const test::redis_server&) {
                        (void)store.create("other", store.open("clicks", access::write)->get_spec());
                        store.rename("other", "clicks", store::namesake::replace);
                      }},
        end_of_filter{"expired", "expired",
                      [](redis_store& store, const test::redis_server& server) {
                        const std::string seconds = lines_of(server.run({"TIME"})).front();
                        store.expire_at(
                            "clicks",
                            event_time(std::chrono::milliseconds(1000 * std::stoll(seconds) + 1100)));
                        std::this_thread::sleep_for(std::chrono::milliseconds(2400));
                      }},
        end_of_filter{"dropped_and_created_again", "gone",
                      [](redis_store& store, const test::redis_server&) {
                        const spec was = store.open("clicks", access::write)->get_spec();
                        store.drop("clicks");
                        (void)store.create("clicks", was);
                      }}),
    [](const auto& one) { return one.param.name; });

// A reset and a rebuild are no errors: the client goes on with what is there now.
TEST_F(JudgedByClients, ClientOfAFilterThatWasResetForgetsAllItsPartitions) {
  random_digests random{32};
  (void)make({.capacity = 10'000, .partitions = 4});
  const auto filter = client();
  const auto known = random.take(400);
  ASSERT_EQ(fresh_in(add_keys(*filter, known)), 400u);
  store_->reset("clicks");
  // Long enough for this client to ask the server whatever it believes to know.
  std::this_thread::sleep_for(mirror_set::unasked_at_most + std::chrono::milliseconds(100));
  EXPECT_EQ(fresh_in(add_keys(*filter, known)), 400u);
}

}  // namespace
}  // namespace everseen::redis
