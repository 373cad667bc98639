// Changes of filters over a network that loses answers, and by a server that dies.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

#include "test/client/served_store.hpp"
#include "test/serve/serving.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/interrupted_operation.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::client {
namespace {

using namespace std::chrono_literals;
using test::cutting_proxy;
using test::never_wrong;
using test::port_of;
using test::serving;
using test::store_of;
using test::store_through;
using testing::HasSubstr;
constexpr auto refuse = store::namesake::refuse;
constexpr auto replace = store::namesake::replace;

class ChangeOverAServer : public testing::Test {
 protected:
  static spec small() { return make_spec({.capacity = 1'000, .error_rate = never_wrong, .partitions = 1}); }
  void make(const std::string& name, const std::string& key) {
    filter(name, store_->create(name, small())).add(key);
  }
  [[nodiscard]] bool has(const std::string& name, const std::string& key) {
    return filter(name, store_->open(name, access::read)).may_contain(key);
  }

  /// Loses each answer of a change in turn, and lets another client do something if the change was made.
  void lose_answers(const std::function<void()>& prepare, const std::function<void(store&)>& change,
                    const std::function<bool()>& is_made, const std::function<void()>& after_it,
                    const std::function<void(bool was_made)>& check) {
    bool was_made = false;
    int made = 0;
    test::lose_answers_everywhere(
        port_of(server_),
        {.open = [](const cutting_proxy& proxy) { return store_through(proxy, "?retry_for=60s"); },
         .prepare = prepare,
         .run = change,
         .meanwhile =
             [&] {
               was_made = is_made();
               if (was_made) ++made, after_it();
             },
         .check =
             [&](bool is_done) {
               EXPECT_TRUE(is_done);
               check(was_made);
               for (const std::string& name : store_->list()) store_->drop(name);
             }});
    EXPECT_GE(made, 2) << "an answer to the change itself should have been lost";
  }
  [[nodiscard]] std::function<bool()> exists(const std::string& name) {
    return [this, name] { return store_->exists(name); };
  }

  serving server_{};
  std::shared_ptr<store> store_ = store_of(server_);
};

// Promise: what changes a filter gets the answer of its first attempt (operations, As a store).
TEST_F(ChangeOverAServer, CreationThatIsSentAgainDoesNotTakeItsNameAgain) {
  lose_answers([] {}, [](store& in) { (void)in.create("a", small()); }, exists("a"),
               [&] { store_->rename("a", "b", refuse); },
               [&](bool was_made) {
                 EXPECT_EQ(store_->exists("a"), !was_made);
                 EXPECT_EQ(store_->exists("b"), was_made);
               });
}

TEST_F(ChangeOverAServer, CreationWhoseAnswerWasLostDoesNotFindItsNameTakenByItself) {
  lose_answers([] {}, [](store& in) { (void)in.create("a", small()); }, exists("a"),
               [&] { filter("a", store_->open("a", access::write)).add("one"); },
               [&](bool was_made) { EXPECT_EQ(has("a", "one"), was_made); });
}

TEST_F(ChangeOverAServer, DropThatIsSentAgainDropsNoNewFilter) {
  lose_answers([&] { make("a", "old"); }, [](store& in) { in.drop("a"); },
               [&] { return !store_->exists("a"); }, [&] { make("a", "new"); },
               [&](bool was_made) { EXPECT_EQ(store_->exists("a"), was_made); });
}

TEST_F(ChangeOverAServer, RenamingThatIsSentAgainMovesNoOtherFilter) {
  lose_answers([&] { make("a", "first"); }, [](store& in) { in.rename("a", "b", replace); }, exists("b"),
               [&] { make("a", "second"); },
               [&](bool was_made) {
                 EXPECT_TRUE(has("b", "first"));
                 EXPECT_EQ(store_->exists("a"), was_made);
               });
}

TEST_F(ChangeOverAServer, RenamingThatIsSentAgainDoesNotFindTheNameTakenByItself) {
  lose_answers([&] { make("a", "first"); }, [](store& in) { in.rename("a", "b", refuse); }, exists("b"),
               [] {}, [&](bool) { EXPECT_TRUE(has("b", "first")); });
}

TEST_F(ChangeOverAServer, ResetThatIsSentAgainRemovesNoKeyThatWasAddedSince) {
  lose_answers([&] { make("a", "old"); }, [](store& in) { in.reset("a"); }, [&] { return !has("a", "old"); },
               [&] { filter("a", store_->open("a", access::write)).add("new"); },
               [&](bool was_made) {
                 EXPECT_FALSE(has("a", "old"));
                 EXPECT_EQ(has("a", "new"), was_made);
               });
}

TEST_F(ChangeOverAServer, EndThatIsSentAgainEndsNoNewFilter) {
  lose_answers([&] { make("a", "old"); }, [](store& in) { in.expire_at("a", event_time{}); },
               [&] { return !store_->exists("a"); }, [&] { make("a", "new"); },
               [&](bool was_made) { EXPECT_EQ(store_->exists("a"), was_made); });
}

// Promise: a change whose server crashed before it answered fails with an error that says that it may have
// been done (operations, As a store).
TEST(ChangeByAServerThatDies, IsReportedAsUncertainAndMadeAtMostOnce) {
  const test::scratch_directory files;
  const spec small = make_spec({.capacity = 1'000, .partitions = 1});
  int uncertain = 0;
  bool is_over = false;
  for (std::size_t bytes = 4; !is_over; bytes += 4) {
    SCOPED_TRACE(bytes);
    serving server("file:" + files.path().string());
    (void)store_of(server)->create("a", small);
    cutting_proxy proxy(port_of(server));
    const auto through = store_through(proxy, "?retry_for=60s");
    proxy.cut_for_long_after(cutting_proxy::direction::to_client, bytes);
    std::optional<std::string> failure;
    std::atomic<bool> has_ended = false;
    std::thread other([&] {
      try {
        through->rename("a", "b", refuse);
      } catch (const everseen::error& why) {
        failure = why.what();
      }
      has_ended = true;
    });
    test::wait_until([&] { return proxy.has_cut() || has_ended; }, "an answer is lost, or the change over");
    is_over = has_ended;
    const bool was_made = store_of(server)->exists("b");
    server.kill();
    server.start();
    proxy.lead_to(port_of(server));
    proxy.refuse(false);
    other.join();
    const auto place = store_of(server);
    ASSERT_EQ(place->list().size(), 1u);
    EXPECT_EQ(place->exists("b"), was_made || !failure);
    EXPECT_TRUE(!failure || was_made) << "what was not sent is sent to the next process";
    uncertain += failure ? 1 : 0;
    EXPECT_THAT(failure.value_or("; it may have been done"), HasSubstr("; it may have been done"));
    place->drop(place->list().front());
  }
  EXPECT_GE(uncertain, 1);
}

TEST(ChangeByARestartedServer, BeginsAnotherSession) {
  const test::scratch_directory files;
  serving server("file:" + files.path().string());
  const auto place = store_of(server);
  filter f("a", place->create("a", make_spec({.capacity = 1'000, .error_rate = never_wrong})));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(f.add("one"), verdict::fresh);
    place->reset("a");
    EXPECT_EQ(f.add("one"), verdict::fresh) << "in the session of the reset";
    server.kill();
    server.start();
    place->reset("a");
  }
}

TEST(ChangeInAnOutageOfTheStore, IsReportedAsUncertain) {
  test::redis_server redis;
  const serving server(redis.unix_url("?retry_for=1s"));
  const auto place = store_of(server, "?retry_for=1s");
  (void)place->create("a", make_spec({.capacity = 1'000}));
  redis.stop();
  EXPECT_THAT(test::refusal<backend_error>([&] { place->drop("a"); }), HasSubstr("may have been done"));
}

}  // namespace
}  // namespace everseen::client
