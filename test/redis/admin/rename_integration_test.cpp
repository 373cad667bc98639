// Renaming filters on servers while the renaming client crashes or others use the filter.

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/admin/dying_client.hpp"
#include "test/redis/judges.hpp"
#include "test/support/interrupted_operation.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::hold_everywhere;
using test::lose_answers_everywhere;
using test::random_digests;
using test::redis_server;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using direction = cutting_proxy::direction;
constexpr auto refuse = store::namesake::refuse;
constexpr auto replace = store::namesake::replace;

class Renaming : public JudgedBy {
 protected:
  std::shared_ptr<stored_filter> make(const std::string& name, std::span<const digest> keys) {
    auto filter = store_->create(name, spec_of({.capacity = 300, .error_rate = 1e-12, .partitions = 2}));
    EXPECT_EQ(outcome(add_keys(*filter, keys)), std::to_string(keys.size()) + " fresh");
    return filter;
  }
  std::string looked_up(const std::string& name, std::span<const digest> keys) const {
    return outcome(check_keys(*client(name, access::read), keys));
  }
  /// The number of filters that have keys.
  std::size_t filters() const {
    std::set<std::string> ids;
    for (const std::string& key : keys_of_filters()) ids.insert(key.substr(10, 32));
    return ids.size();
  }

  cutting_proxy proxy_{server_.port()};
  std::vector<digest> keys_ = random_digests(1).take(200);
  std::vector<digest> others_ = random_digests(2).take(200);
};

// Promise: a client that has a filter open continues under its new name (redis, What holds for all filters on
// Redis).
TEST_P(Renaming, ClientsThatHaveTheFilterOpenContinue) {
  make("a", keys_);
  const auto open = client("a");
  EXPECT_EQ(outcome(add_keys(*open, keys_)), "200 seen");
  store_->rename("a", "b", refuse);
  EXPECT_EQ(outcome(add_keys(*open, others_)), "200 fresh");
  EXPECT_EQ(outcome(check_keys(*open, keys_)), "200 seen");
  EXPECT_EQ(looked_up("b", others_), "200 seen");
  make("a", keys_);
  EXPECT_EQ(outcome(add_keys(*open, others_)), "200 seen") << "and not with another filter of its old name";
}

// Promise: an operation that has begun continues under the new name of its filter (redis, What holds for all
// filters on Redis).
TEST_P(Renaming, ResetThatHasBegunEmptiesItsFilterUnderTheNewName) {
  hold_everywhere(server_.port(),
                  {.open = through_proxy,
                   .prepare = [&] { make("a", keys_); },
                   .run = [](everseen::store& in) { in.reset("a"); },
                   .meanwhile =
                       [&] {
                         store_->rename("a", "b", refuse);
                         make("a", keys_);
                       },
                   .check =
                       [&](bool is_reset) {
                         EXPECT_TRUE(is_reset);
                         const std::set<std::string> found{looked_up("a", keys_), looked_up("b", keys_)};
                         EXPECT_THAT(found, ElementsAre("200 fresh", "200 seen")) << "one of the two";
                         store_->drop("a");
                         store_->drop("b");
                       }});
}

// Promise: a request is sent again if its answer was lost, and gets its first answer (redis, Outages).
TEST_P(Renaming, SentAgainMovesNoOtherFilter) {
  bool is_moved = false;
  lose_answers_everywhere(server_.port(), {.open = through_proxy,
                                           .prepare = [&] { make("a", keys_); },
                                           .run = [](everseen::store& in) { in.rename("a", "b", replace); },
                                           .meanwhile =
                                               [&] {
                                                 is_moved = store_->exists("b");
                                                 if (is_moved) make("a", others_);
                                               },
                                           .check =
                                               [&](bool is_done) {
                                                 EXPECT_TRUE(is_done);
                                                 EXPECT_EQ(looked_up("b", keys_), "200 seen");
                                                 EXPECT_EQ(store_->exists("a"), is_moved);
                                                 for (const std::string& name : store_->list())
                                                   store_->drop(name);
                                               }});
}

TEST_P(Renaming, CreationThatIsSentAgainDoesNotTakeItsNameAgain) {
  lose_answers_everywhere(
      server_.port(), {.open = through_proxy,
                       .prepare = [] {},
                       .run = [&](everseen::store& in) { (void)in.create("a", spec_of({.capacity = 300})); },
                       .meanwhile =
                           [&] {
                             if (store_->exists("a")) store_->rename("a", "b", refuse);
                           },
                       .check =
                           [&](bool) {
                             EXPECT_EQ(store_->list().size(), 1u);
                             for (const std::string& name : store_->list()) store_->drop(name);
                           }});
}

TEST_P(Renaming, DropThatIsSentAgainDropsNoNewFilter) {
  bool is_dropped = false;
  lose_answers_everywhere(server_.port(), {.open = through_proxy,
                                           .prepare = [&] { make("a", keys_); },
                                           .run = [](everseen::store& in) { in.drop("a"); },
                                           .meanwhile =
                                               [&] {
                                                 is_dropped = !store_->exists("a");
                                                 if (!is_dropped) return;
                                                 make("c", others_);
                                                 store_->drop("c");  // and what others left
                                                 make("a", others_);
                                               },
                                           .check =
                                               [&](bool is_done) {
                                                 EXPECT_TRUE(is_done);
                                                 EXPECT_EQ(store_->exists("a"), is_dropped);
                                                 if (is_dropped) store_->drop("a");
                                               }});
}

// Promise: once a drop has returned, the next batch that asks the server fails (redis, What holds for all
// filters on Redis).
TEST_P(Renaming, FirstBatchAfterADropFails) {
  make("a", keys_);
  const auto adds = client("a"), looks = client("a", access::read), idle = client("a");
  EXPECT_EQ(outcome(add_keys(*adds, keys_)), "200 seen");
  EXPECT_EQ(outcome(check_keys(*looks, keys_)), "200 seen");
  store_->drop("a");
  make("a", keys_);
  EXPECT_TRUE(failure_of_add(*adds, others_));
  EXPECT_TRUE(failure_of_check(*looks, keys_));
  EXPECT_TRUE(failure_of_add(*idle, keys_));
  EXPECT_EQ(looked_up("a", others_), "200 fresh");
}

// Promise: a client whose filter was replaced gets an error (redis, What holds for all filters on Redis).
TEST_P(Renaming, ClientsOfAReplacedFilterGetAnError) {
  make("a", keys_);
  make("b", others_);
  const auto open = client("b");
  EXPECT_EQ(outcome(add_keys(*open, others_)), "200 seen");
  store_->rename("a", "b", replace);
  const auto failure = failure_of_add(*open, random_digests(3).take(10));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("dropped, replaced or deleted"));
  EXPECT_TRUE(failure->ends_batch());
  EXPECT_TRUE(failure_of_check(*open, others_));
  EXPECT_EQ(looked_up("b", keys_), "200 seen");
}

TEST_P(Renaming, LeavesNoKeyOfTheReplacedFilterBehind) {
  make("a", keys_);
  make("b", others_);
  store_->rename("a", "b", replace);
  EXPECT_EQ(filters(), 1u);
  store_->drop("b");
  EXPECT_THAT(all_keys(), IsEmpty());
}

TEST_P(Renaming, JobsStayWithTheirFilter) {
  {
    const auto filter = make("a", keys_);
    filter->open_ledger("j", "described")->settle(std::vector<checkpoint>{{"lane", 7, "note"}});
  }
  store_->rename("a", "b", refuse);
  const auto filter = client("b");
  EXPECT_THAT(store_->jobs("b"), ElementsAre("j"));
  EXPECT_EQ(filter->open_ledger("j", "")->checkpoints().at("lane").position, 7u);
}

TEST_P(Renaming, OfAFilterDuringARebuildMovesBoth) {
  const auto filter = make("a", keys_);
  const auto rebuild = store_->begin_rebuild("a", filter->get_spec(), {});
  store_->rename("a", "b", refuse);
  EXPECT_EQ(looked_up("b", keys_), "200 seen");
  make("c", others_);
  store_->rename("c", "b", replace);
  EXPECT_THROW(rebuild->commit(), storage_error);
  EXPECT_EQ(looked_up("b", others_), "200 seen");
  EXPECT_EQ(filters(), 1u) << "both were replaced";
}

/// Every point at which it can crash: after each number of bytes in either direction.
// Promise: a renaming that is interrupted leaves the filter with exactly one of its names (operations, Bloom
// commands).
TEST_P(Renaming, WhereverItCrashesTheFilterHasOneOfItsNamesAndTheNextRenamingWorks) {
  unsigned died = 0, under_old = 0, under_new = 0;
  for (const direction w : {direction::to_server, direction::to_client})
    for (const bool taken : {false, true})
      for (std::size_t bytes = 0;; bytes += w == direction::to_server ? 151 : 23) {
        make("a", keys_);
        if (taken) make("b", others_);
        const bool done =
            die_after(proxy_, proxy_.url("/?retry_for=1ms"), w, bytes,
                      [&](everseen::store& in) { in.rename("a", "b", taken ? replace : refuse); });
        const bool is_over = done && !proxy_.has_cut();
        died += !done;
        const bool old = store_->exists("a");
        const bool other_stands = taken && old;
        const std::string name = old ? "a" : "b";
        ++(old ? under_old : under_new);
        ASSERT_EQ(store_->list().size(), other_stands ? 2u : 1u) << bytes;
        ASSERT_EQ(looked_up(name, keys_), "200 seen") << bytes;
        if (other_stands) {
          ASSERT_EQ(looked_up("b", others_), "200 seen") << bytes;
        }
        store_->rename(name, "c", refuse);
        ASSERT_EQ(outcome(add_keys(*client("c"), keys_)), "200 seen") << bytes;
        for (const std::string& each : store_->list()) store_->drop(each);
        ASSERT_THAT(all_keys(), IsEmpty()) << "nothing is left behind";
        if (is_over) break;
      }
  EXPECT_GT(died, 20u);
  EXPECT_GT(under_old, 10u);
  EXPECT_GT(under_new, 10u);
}

/// Every point at which it can lose its connection: before a step that it retries later, or after a step
/// whose answer it never received.
TEST_P(Renaming, DelayedAnywhereHarmsNoConcurrentRenaming) {
  unsigned renamed_meanwhile = 0;
  const auto few = std::span(keys_).first(20);
  for (const direction w : {direction::to_server, direction::to_client})
    for (const std::string meanwhile : {"a", "c"})
      for (std::size_t bytes = 0;; bytes += w == direction::to_server ? 151 : 2) {
        make("a", few);
        bool over = false;
        {
          const auto held_up = store_at(proxy_.url());
          proxy_.refuse(false);
          proxy_.cut_for_long_after(w, bytes);
          std::atomic<bool> done = false;
          std::thread renaming([&] {
            try {
              held_up->rename("a", "b", refuse);
            } catch (const error&) {
              // Its step was done; on the retry the state differed from what it had read.
            }
            done = true;
          });
          while (!done && !proxy_.has_cut()) std::this_thread::sleep_for(500us);
          over = !proxy_.has_cut();
          if (!over && store_->exists("b")) {
            EXPECT_NO_THROW(store_->rename("b", meanwhile, refuse)) << bytes;
            ++renamed_meanwhile;
          }
          proxy_.refuse(false);
          renaming.join();
        }
        const std::vector<std::string> names = store_->list();
        ASSERT_EQ(names.size(), 1u) << bytes << " " << testing::PrintToString(names);
        ASSERT_EQ(filters(), 1u) << bytes;
        ASSERT_EQ(outcome(add_keys(*client(names[0]), few)), "20 seen") << bytes;
        (void)server_.run({"FLUSHALL"});
        if (over) break;
      }
  EXPECT_GT(renamed_meanwhile, 0u);
}

TEST_P(Renaming, OfAFilterOnSeveralServersMovesNothing) {
  redis_server second(with_judge());
  const auto many = store_at("redis://" + server_.address() + "," + second.address());
  const auto filter = many->create("m", spec_of({.capacity = 300, .error_rate = 1e-12, .partitions = 4}));
  EXPECT_EQ(outcome(add_keys(*filter, keys_)), "200 fresh");
  const auto before = std::pair(keys_of_filters(), keys_of_filters(second));
  many->rename("m", "n", refuse);
  EXPECT_EQ(before, std::pair(keys_of_filters(), keys_of_filters(second)));
  EXPECT_EQ(outcome(add_keys(*many->open("n", access::write), keys_)), "200 seen");
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, Renaming, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

}  // namespace
}  // namespace everseen::redis
