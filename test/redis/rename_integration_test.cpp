// What becomes of a filter on servers when it gets another name or another end and whoever does it dies on
// the way, or others use it meanwhile.

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/error.hpp"
#include "everseen/core/window.hpp"

#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using test::redis_server;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using way = cutting_proxy::direction;
constexpr auto refuse = store::namesake::refuse;
constexpr auto replace = store::namesake::replace;

class Renaming : public testing::Test {
 protected:
  std::shared_ptr<stored_filter> make(const std::string& name, std::span<const digest> keys) {
    auto filter =
        store_->create(name, planned(*store_, {.capacity = 300, .error_rate = 1e-12, .partitions = 2}));
    EXPECT_EQ(outcome(add_keys(*filter, keys)), std::to_string(keys.size()) + " fresh");
    return filter;
  }
  /// Ends each call at the first outage, as if the process had died there.
  std::shared_ptr<redis_store> dying_store() { return store_at(proxy_.url("/?retry_for=1ms")); }

  /// Runs it until so many bytes have gone one way, as if its process died there.
  /// @return whether it came to its end
  bool die_after(way w, std::size_t bytes, const std::function<void(redis_store&)>& work) {
    proxy_.refuse(false);
    proxy_.delay(1ms);
    proxy_.cut_after(w, bytes);
    std::atomic<bool> over = false;
    std::thread death([&] {
      while (!over && !proxy_.has_cut()) std::this_thread::sleep_for(50us);
      proxy_.refuse(true);
    });
    bool done = true;
    try {
      work(*dying_store());
    } catch (const error&) {
      done = false;
    }
    over = true;
    death.join();
    return done;
  }

  redis_server server_;
  cutting_proxy proxy_{server_.port()};
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  std::vector<digest> keys_ = random_digests(1).take(200);
  std::vector<digest> others_ = random_digests(2).take(200);
};

TEST_F(Renaming, WhoHasTheFilterOpenByItsOldNameIsTold) {
  const auto elsewhere = store_at(server_.url());
  make("a", keys_);
  const auto open = elsewhere->open("a", access::write);
  EXPECT_EQ(outcome(add_keys(*open, keys_)), "200 seen");
  store_->rename("a", "b", refuse);
  const auto failure = failure_of_add(*open, others_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("renamed to 'b'"));
  EXPECT_TRUE(failure->ends_batch());
  EXPECT_TRUE(failure_of_check(*open, keys_));
  EXPECT_EQ(outcome(check_keys(*elsewhere->open("b", access::read), keys_)), "200 seen");
}

TEST_F(Renaming, WhoHasTheFilterOpenThatWasReplacedIsTold) {
  const auto elsewhere = store_at(server_.url());
  make("a", keys_);
  make("b", others_);
  const auto open = elsewhere->open("b", access::write);
  EXPECT_EQ(outcome(add_keys(*open, others_)), "200 seen");
  store_->rename("a", "b", replace);
  const auto failure = failure_of_add(*open, others_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("open it again"));
}

TEST_F(Renaming, LeavesNoKeyOfTheReplacedFilterBehind) {
  make("a", keys_);
  make("b", others_);
  store_->rename("a", "b", replace);
  store_->drop("b");
  EXPECT_THAT(keys_like(server_, "everseen*"), testing::Each(HasSubstr("}:t:")))
      << "but tokens, which expire";
}

TEST_F(Renaming, JobsStayWithTheirFilter) {
  {
    const auto filter = make("a", keys_);
    filter->open_ledger("j", "described")->settle(std::vector<checkpoint>{{"lane", 7, "note"}});
  }
  store_->rename("a", "b", refuse);
  const auto filter = store_->open("b", access::write);
  EXPECT_THAT(filter->jobs(), ElementsAre("j"));
  EXPECT_EQ(filter->open_ledger("j", "")->checkpoints().at("lane").position, 7u);
}

TEST_F(Renaming, FilterWithJobsIsGivenNoEndAndOneThatIsRebuiltNeitherEndNorName) {
  const auto filter = make("a", keys_);
  (void)filter->open_ledger("j", "described");
  EXPECT_THROW(
      filter->end_at(std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 1h),
      parameter_error);
  const auto other = make("b", others_);
  const auto rebuild = store_->begin_rebuild("b", other->get_spec(), {});
  EXPECT_THROW(store_->rename("b", "c", refuse), parameter_error);
  EXPECT_THROW(store_->rename("a", "b", replace), parameter_error);
  EXPECT_THROW(other->end_at(std::nullopt), parameter_error);
  EXPECT_THAT(store_->list(), ElementsAre("a", "b"));
}

/// Each point at which it can die: after so many bytes on one of the ways.
TEST_F(Renaming, WhereverItDiesTheFilterHasExactlyOneOfItsNamesAndTheNextRenamingWorks) {
  unsigned died = 0, under_old = 0, under_new = 0;
  for (const way w : {way::to_server, way::to_client})
    for (const bool taken : {false, true})
      for (std::size_t bytes = 0;; bytes += w == way::to_server ? 257 : 53) {
        make("a", keys_);
        if (taken) make("b", others_);
        const bool done =
            die_after(w, bytes, [&](redis_store& in) { in.rename("a", "b", taken ? replace : refuse); });
        if (done && !proxy_.has_cut()) {
          for (const std::string& name : store_->list()) store_->drop(name);
          break;
        }
        died += !done;
        const bool old = store_->exists("a");
        const std::string name = old ? "a" : "b";
        const bool other_stands = taken && old;
        ++(old ? under_old : under_new);
        ASSERT_TRUE(old || !done || store_->exists("b"));
        if (old && !taken) {
          ASSERT_FALSE(store_->exists("b"));
        }
        if (other_stands) {
          ASSERT_EQ(outcome(check_keys(*store_->open("b", access::read), others_)), "200 seen");
        }
        ASSERT_EQ(store_->list().size(), other_stands ? 2u : 1u) << bytes;
        ASSERT_EQ(outcome(check_keys(*store_->open(name, access::read), keys_)), "200 seen") << bytes;
        const auto filter = store_->open(name, access::write);
        ASSERT_EQ(outcome(add_keys(*filter, keys_)), "200 seen");
        // The mark of one who died before the filter had moved holds others off for some seconds: taken away
        // here.
        if (old) (void)server_.run({"HDEL", "everseen:a", "moves_to", "moves_until"});
        store_->rename(name, "c", refuse);
        ASSERT_EQ(outcome(check_keys(*store_->open("c", access::read), keys_)), "200 seen");
        for (const std::string& each : store_->list()) store_->drop(each);
        ASSERT_THAT(keys_like(server_, "everseen:{*}"), IsEmpty()) << "nothing is left behind";
        (void)server_.run({"FLUSHALL"});
      }
  EXPECT_GT(died, 20u);
  EXPECT_GT(under_old, 10u);
  EXPECT_GT(under_new, 10u);
}

TEST_F(Renaming, WhereverItDiesTheIndexKnowsTheEndThatTheNameHasBySoonerThanItsHeader) {
  const event_time end = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 1h;
  unsigned arrived = 0;
  for (const auto other_end : {std::optional<event_time>(), std::optional(end + 1h)})
    for (std::size_t bytes = 0;; bytes += 211) {
      make("a", keys_)->end_at(end);
      make("b", others_)->end_at(other_end);
      const bool done =
          die_after(way::to_server, bytes, [&](redis_store& in) { in.rename("a", "b", replace); });
      if (server_.run({"HGET", "everseen:b", "ends_at"}) == to_text(end)) {
        ++arrived;
        ASSERT_EQ(server_.run({"ZSCORE", "everseen:{everseen}:ends", "b"}), to_text(end)) << bytes;
      }
      (void)server_.run({"FLUSHALL"});
      if (done && !proxy_.has_cut()) break;
    }
  EXPECT_GT(arrived, 20u);
}

/// Each point at which it can lose its connection: before a step that it sends again later, or after one
/// whose answer it never got.
TEST_F(Renaming, WhoIsHeldUpAnywhereHarmsNobodyWhoRenamesTheFilterBackOrOnMeanwhile) {
  unsigned renamed_meanwhile = 0;
  const auto few = std::span(keys_).first(20);
  for (const way w : {way::to_server, way::to_client})
    for (const std::string meanwhile : {"a", "c"})
      for (std::size_t bytes = 0;; bytes += w == way::to_server ? 211 : 7) {
        make("a", few);
        bool over = false;
        {
          const auto held_up = store_at(proxy_.url("/?retry_for=60s"));
          proxy_.refuse(false);
          proxy_.cut_for_long_after(w, bytes);
          std::atomic<bool> done = false;
          std::thread renaming([&] {
            try {
              held_up->rename("a", "b", refuse);
            } catch (const error&) {
              // Its step had been done, and was not what it found when it sent it again.
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
        ASSERT_EQ(keys_like(server_, "everseen:?"), std::vector<std::string>{"everseen:" + names[0]})
            << bytes;
        const auto filter = store_->open(names[0], access::write);
        ASSERT_EQ(outcome(add_keys(*filter, few)), "20 seen") << bytes;
        (void)server_.run({"FLUSHALL"});
        if (over) break;
      }
  EXPECT_GT(renamed_meanwhile, 40u);
}

TEST_F(Renaming, MarkOfOneWhoDiedHoldsOthersOffForSomeSecondsAndNoLonger) {
  make("a", keys_);
  const auto set_mark = [&](std::chrono::seconds ago) {
    const auto until = std::chrono::system_clock::now() - ago;
    (void)server_.run({"HSET", "everseen:a", "moves_to", "b", "moves_until",
                       to_text(std::chrono::floor<std::chrono::milliseconds>(until))});
  };
  set_mark(0s);
  EXPECT_THROW(store_->rename("a", "c", refuse), storage_error);
  EXPECT_THROW(store_->drop("a"), storage_error);
  EXPECT_EQ(outcome(check_keys(*store_->open("a", access::write), keys_)), "200 seen");
  set_mark(10s);
  EXPECT_NO_THROW(store_->rename("a", "c", refuse));
  EXPECT_THAT(store_->list(), ElementsAre("c"));
}

TEST_F(Renaming, AllKeysGetTheNewEndAndLoseItAgain) {
  const auto filter = make("a", keys_);
  (void)add_keys(*filter, random_digests(3).take(1'000));
  const auto ends = [&] {
    std::set<std::string> all;
    for (const std::string& key : keys_like(server_, "everseen:*a*"))
      if (key.find("}:t:") == std::string::npos) all.insert(server_.run({"PEXPIRETIME", key}));
    return all;
  };
  const event_time later =
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 1h;
  filter->end_at(later);
  EXPECT_THAT(ends(), ElementsAre(to_text(later)));
  EXPECT_EQ(server_.run({"ZSCORE", "everseen:{everseen}:ends", "a"}), to_text(later));
  (void)add_keys(*filter, random_digests(4).take(3'000));
  EXPECT_THAT(ends(), ElementsAre(to_text(later))) << "also segments that come later";
  filter->end_at(std::nullopt);
  EXPECT_THAT(ends(), ElementsAre("-1"));
  EXPECT_EQ(server_.run({"ZSCORE", "everseen:{everseen}:ends", "a"}), "(nil)");
}

/// Whatever was reached when it died, the header goes first or with all others.
TEST_F(Renaming, WhereverTheGiverOfAnEndDiesNoPartitionEndsBeforeItsHeader) {
  unsigned died = 0;
  for (const way w : {way::to_server, way::to_client})
    for (const bool persists : {false, true})
      for (std::size_t bytes = 0;; bytes += w == way::to_server ? 257 : 53) {
        const event_time later =
            std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 1h;
        {
          const auto filter = make("a", keys_);
          if (persists) filter->end_at(later);
        }
        const bool done = die_after(w, bytes, [&](redis_store& in) {
          in.open("a", access::write)->end_at(persists ? std::nullopt : std::optional(later));
        });
        const bool cut = proxy_.has_cut();
        died += !done;
        const auto end_of = [&](const std::string& key) {
          const std::int64_t end = std::stoll(server_.run({"PEXPIRETIME", key}));
          return end == -1 ? INT64_MAX : end;
        };
        const std::int64_t of_header = end_of("everseen:a");
        for (const std::string& key : keys_like(server_, "everseen:{a/*"))
          if (key.find("}:t:") == std::string::npos) {
            ASSERT_GE(end_of(key), of_header) << key << " " << bytes;
          }
        (void)store_->open("a", access::write);
        std::set<std::int64_t> ends = {end_of("everseen:a")};
        for (const std::string& key : keys_like(server_, "everseen:{a/*"))
          if (key.find("}:t:") == std::string::npos) ends.insert(end_of(key));
        ASSERT_EQ(ends.size(), 1u) << "who opens it to write does the rest";
        (void)server_.run({"FLUSHALL"});
        if (done && !cut) break;
      }
  EXPECT_GT(died, 20u);
}

TEST_F(Renaming, EndIsKnownOnAllServersOfAFilter) {
  redis_server second;
  const auto many = store_at("redis://" + server_.address() + "," + second.address());
  const auto filter =
      many->create("m", planned(*many, {.capacity = 300, .error_rate = 1e-12, .partitions = 4}));
  (void)add_keys(*filter, keys_);
  const event_time later =
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 1h;
  filter->end_at(later);
  for (const redis_server* each :
       {static_cast<const redis_server*>(&server_), static_cast<const redis_server*>(&second)})
    for (const std::string& key : keys_like(*each, "everseen:*m*"))
      if (key.find("}:t:") == std::string::npos) {
        EXPECT_EQ(each->run({"PEXPIRETIME", key}), to_text(later)) << key;
      }
  many->rename("m", "n", refuse);
  EXPECT_EQ(second.run({"HGET", "everseen:n", "place"}), "2/2");
  EXPECT_EQ(second.run({"EXISTS", "everseen:m"}), "0");
  EXPECT_EQ(outcome(check_keys(*many->open("n", access::write), keys_)), "200 seen");
}

}  // namespace
}  // namespace everseen::redis
