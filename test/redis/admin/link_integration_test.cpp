// A new filter that asks an old one first, with any judges. Tests for all stores are in
// test/filter/link_suite.hpp.

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/store/port/time_source.hpp"

#include "test/foreign/attached/attached.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using foreign::add_to;
using foreign::family;
using foreign::id_at;
using foreign::look_in;
using foreign::random_keys;
using test::redis_server;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double rare = 1e-12;  // so rare that no test fails by a false positive

/// The judges of the older and the newer filter.
class Link : public testing::TestWithParam<std::pair<judge_kind, judge_kind>> {
 protected:
  [[nodiscard]] std::shared_ptr<redis_store> store() const { return store_at(server_.url()); }
  filter create(const std::string& name, judge_kind judge, std::uint64_t capacity = 1'000) const {
    const auto in = store();
    return {name,
            in->create(
                name, in->plan({.capacity = capacity, .error_rate = rare, .partitions = 2, .judge = judge}))};
  }
  filter create_old(std::uint64_t capacity = 1'000) const {
    return create("old", GetParam().first, capacity);
  }
  filter create_new(std::uint64_t capacity = 1'000) const {
    return create("new", GetParam().second, capacity);
  }
  filter open(const std::string& name) const { return {name, store()->open(name, access::write)}; }
  void link(const std::string& older, const std::string& newer,
            std::optional<std::chrono::milliseconds> life = {}) const {
    store()->link(older, newer, life);
  }
  static std::string refusal(const std::function<void()>& call) { return message_of<parameter_error>(call); }
  /// Runs both concurrently.    @return how many were not refused
  static int run_both(const std::function<void()>& one, const std::function<void()>& other) {
    std::atomic<int> done = 0;
    {
      std::vector<std::jthread> threads;
      for (const auto* call : {&one, &other})
        threads.emplace_back([&done, call] {
          try {
            (*call)();
            ++done;
          } catch (const parameter_error&) {
          }
        });
    }
    return done;
  }

  redis_server server_{test::with_module()};
};

TEST_P(Link, KeepsBothFiltersInPlace) {
  create_old();
  create_new();
  link("old", "new");
  EXPECT_EQ(open("new").stored().path().asks_first, predecessor{"old"});
  EXPECT_THAT(refusal([&] { store()->drop("old"); }), HasSubstr("link --off new"));
  for (const auto& [from, target] : {std::pair{"old", "x"}, {"new", "x"}})
    EXPECT_THAT(refusal([&] { store()->rename(from, target, store::namesake::refuse); }),
                HasSubstr("link --off new"))
        << from;
  for (const judge_kind judge : {judge_kind::client, judge_kind::server}) {
    const std::string third = "by_" + std::string(to_string(judge));
    create(third, judge);
    EXPECT_THAT(refusal([&] { link("new", third); }), HasSubstr("only one older filter"));
    EXPECT_THAT(refusal([&] { link(third, "old"); }), HasSubstr("only one older filter"));
    EXPECT_THAT(refusal([&] { link("old", third); }), HasSubstr("link --off new"));
    EXPECT_THAT(refusal([&] { link(third, "new"); }), HasSubstr("link --off new"));
    EXPECT_THAT(refusal([&] { store()->rename(third, "old", store::namesake::replace); }),
                HasSubstr("link --off new"));
  }
  store()->unlink("new");
  EXPECT_EQ(open("new").stored().path().asks_first, std::nullopt);
  EXPECT_NO_THROW(store()->rename("new", "x", store::namesake::refuse));
  EXPECT_NO_THROW(store()->drop("old"));
}

TEST_P(Link, StaleLookUpsMakeNoKeyFreshTwice) {
  filter old = create_old();
  create_new();
  link("old", "new");
  filter lax{"new", store_at(server_.url("?staleness=10m"))->open("new", access::write)};
  const auto keys = random_keys(1, 100);
  EXPECT_THAT(look_in(lax, keys).verdicts, Each(verdict::fresh));
  EXPECT_THAT(add_to(old, keys).verdicts, Each(verdict::fresh));
  EXPECT_THAT(add_to(lax, keys).verdicts, Each(verdict::seen));
}

TEST_P(Link, OlderFilterMayBeAnActiveFilterOfAnotherProgram) {
  const foreign::attachment a = foreign::attachment_to("bloom", family::gozero, 1'000'003);
  foreign::attach(store()->servers(), "old", a, foreign::missing_key::create);
  create_new();
  EXPECT_THAT(refusal([&] { link("new", "old"); }), HasSubstr("link old new"));
  link("old", "new");
  filter f = open("new");
  add_as_original(server_, a, "theirs");
  EXPECT_EQ(f.add("theirs"), verdict::seen);
  EXPECT_EQ(f.add("ours"), verdict::fresh);
  EXPECT_FALSE(is_known_to_original(server_, a, "ours"));
  EXPECT_THAT(refusal([&] { store()->drop("old"); }), HasSubstr("link --off new"));
}

// Promise: a link ends at its time, also in a filter that is open (foreign-filters, Linked filters).
TEST_P(Link, EndsByItself) {
  create_old().add("before");
  create_new();
  link("old", "new", 1h);
  link("old", "new", 500ms);
  filter f = open("new");
  EXPECT_TRUE(f.may_contain("before"));
  EXPECT_NE(f.stored().path().asks_first, std::nullopt);
  test::wait_until([&] { return !f.may_contain("before"); }, "the link ends while the filter is open");
  EXPECT_FALSE(open("new").may_contain("before"));
  EXPECT_EQ(open("new").stored().path().asks_first, std::nullopt);
  EXPECT_NO_THROW(store()->drop("old"));
}

TEST_P(Link, OfAMissingNewerFilterBlocksNothing) {
  create_old();
  create_new();
  link("old", "new");
  store()->drop("new");
  create_new();
  EXPECT_EQ(open("new").stored().path().asks_first, std::nullopt);
  create("other", GetParam().second);
  EXPECT_NO_THROW(link("old", "other"));
  store()->unlink("other");
  EXPECT_NO_THROW(store()->rename("old", "x", store::namesake::refuse));
}

TEST_P(Link, OfAnEndedNewerFilterBlocksNothing) {
  create_old();
  create_new();
  link("old", "new");
  store()->expire_at("new", wall_clock() + 1s);
  test::wait_until([&] { return !store()->exists("new"); }, "the newer one ends");
  EXPECT_NO_THROW(store()->drop("old"));
  EXPECT_EQ(server_.run({"EXISTS", "everseen:{names}:links"}), "0");
}

// Promise: an older filter that is gone is an error that names it (foreign-filters, Linked filters).
TEST_P(Link, MissingOlderFilterIsAnErrorThatNamesIt) {
  create_old().add("before");
  create_new();
  link("old", "new");
  filter open_before = open("new");
  for (const std::string& key : keys_like(server_, "everseen:{" + id_at(server_, "old") + "*"))
    server_.run({"DEL", key});
  EXPECT_THAT(message_of<format_error>([&] { (void)open("new"); }),
              AllOf(HasSubstr("'new' asks 'old' first"), HasSubstr("link --off new")));
  const auto got = add_to(open_before, {"one", "two"});
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("'old' first"));
  EXPECT_THAT(got.verdicts, Each(verdict::unknown));
  store()->unlink("new");
  EXPECT_EQ(open("new").add("one"), verdict::fresh);
}

// Promise: nothing is added where the older filter does not answer (foreign-filters, Linked filters).
TEST_P(Link, NothingIsAddedWhereTheOlderFilterDoesNotAnswer) {
  test::cutting_proxy proxy(server_.port());
  create_old().add("before");
  filter newer = create_new();
  link("old", "new");
  filter f("new", store_at(proxy.url("?retry_for=1ms&timeout=200ms"))->open("new", access::write));
  proxy.refuse(true);
  const auto got = add_to(f, {"before", "one"});
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().done.unknown, 2u);
  EXPECT_THAT(got.verdicts, Each(verdict::unknown));
  EXPECT_THAT(look_in(newer, {"before", "one"}).verdicts, Each(verdict::fresh));
  proxy.refuse(false);
  EXPECT_THAT(add_to(f, {"before", "one"}).verdicts, ElementsAre(verdict::seen, verdict::fresh));
}

TEST_P(Link, OfManyClientsOneGetsFreshForEachKey) {
  filter older = create_old(10'000);
  create_new(10'000);
  const std::vector<std::string> keys = random_keys(2'000, 3);
  (void)add_to(older, {keys.begin(), keys.begin() + 1'000});
  link("old", "new");
  std::vector<std::atomic<int>> fresh(keys.size());
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < 4; ++c)
      clients.emplace_back([&] {
        filter f = open("new");
        const auto got = add_to(f, keys);
        for (std::size_t i = 0; i < keys.size(); ++i) fresh[i] += got.verdicts[i] == verdict::fresh ? 1 : 0;
      });
  }
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(fresh[i], i < 1'000 ? 0 : 1) << i;
}

// Promise: a link survives a rebuild of either filter (foreign-filters, Linked filters).
TEST_P(Link, SurvivesARebuildAndAResetOfTheNewer) {
  create_old().add("before");
  filter newer = create_new();
  link("old", "new");
  store()->begin_rebuild("new", newer.get_spec(), {})->commit();
  EXPECT_TRUE(open("new").may_contain("before"));
  store()->reset("new");
  EXPECT_TRUE(open("new").may_contain("before"));
  EXPECT_THAT(refusal([&] { store()->drop("old"); }), HasSubstr("link --off new"));
}

// Promise: a link survives a rebuild of either filter (foreign-filters, Linked filters).
TEST_P(Link, AsksTheOlderFilterAlsoAfterItsRebuild) {
  filter older = create_old();
  older.add("before");
  create_new();
  link("old", "new");
  const filter f = open("new");
  EXPECT_TRUE(f.may_contain("before"));
  const auto rebuild = store()->begin_rebuild("old", older.get_spec(), {});
  filter("old", rebuild->target()).add("given");
  rebuild->commit();
  for (const filter& each : {open("new"), f}) {
    EXPECT_TRUE(each.may_contain("given"));
    EXPECT_FALSE(each.may_contain("before"));
  }
}

TEST_P(Link, LeavesNothingBehindOnceBothAreDropped) {
  create_old();
  create_new();
  link("old", "new");
  store()->drop("new");
  store()->drop("old");
  EXPECT_THAT(keys_like(server_, "*"), Each(HasSubstr("}:t:"))) << "tokens expire";
}

TEST_P(Link, OfTwoThatWouldMakeAChainOneIsRefused) {
  create_old();
  create_new();
  create("newest", GetParam().first);
  for (int round = 0; round < 30; ++round) {
    const auto& [older, newer] = round % 2 == 0 ? std::pair{"new", "newest"} : std::pair{"new", "old"};
    ASSERT_EQ(run_both([&] { link("old", "new"); }, [&] { link(older, newer); }), 1) << round;
    for (const char* one : {"old", "new", "newest"}) (void)refusal([&] { store()->unlink(one); });
  }
}

TEST_P(Link, OfALinkAndADropOfTheOlderFilterOneIsRefused) {
  create_new();
  for (int round = 0; round < 20; ++round) {
    create_old();
    bool is_dropped = false;
    const int done = run_both([&] { link("old", "new"); },
                              [&] {
                                store()->drop("old");
                                is_dropped = true;
                              });
    ASSERT_EQ(done, 1) << round;
    ASSERT_NE(store()->exists("old"), is_dropped) << round;
    (void)refusal([&] { store()->unlink("new"); });
    if (!is_dropped) store()->drop("old");
  }
}

TEST_P(Link, IsNeverMadeBesideAJob) {
  create_old();
  filter newer = create_new();
  for (int round = 0; round < 20; ++round) {
    ASSERT_LE(run_both([&] { link("old", "new"); }, [&] { (void)newer.stored().open_ledger("count", ""); }),
              1)
        << round;
    (void)refusal([&] { store()->unlink("new"); });
    (void)refusal([&] { store()->end_job("new", "count"); });
  }
}

/// As a client leaves it that is killed after it has written the link and before it looks for jobs again.
TEST_P(Link, BesideAJobEndsTheJobForNoWorker) {
  const filter old = create_old();
  filter newer = create_new();
  filter another = open("new");
  const auto job = newer.stored().open_ledger("count", "");
  test::random_digests keys(1);
  const auto claim = [&](std::uint64_t position) {
    std::vector<test::event> events = test::new_events(keys, position, 5);
    for (test::event& e : events) e.counters = {"all"};
    return test::text_of(test::claim_events(*job, newer.get_spec(), {"lane", 0}, events).verdicts);
  };
  ASSERT_EQ(claim(0), "00000");
  {
    server_connections connections(parse_redis_url(server_.unix_url()));
    ASSERT_TRUE(link_hash("everseen")
                    .put(connections, {"new", {"old"}}, identity_at(server_, "new", newer.get_spec()).id,
                         identity_at(server_, "old", old.get_spec()).id));
  }
  for (const char* name : {"count", "other"})
    EXPECT_THAT(refusal([&] { (void)another.stored().open_ledger(name, ""); }), HasSubstr("'old' first"));
  EXPECT_THAT(store()->jobs("new"), ElementsAre("count"));
  EXPECT_EQ(claim(5), "00000");
  EXPECT_EQ(test::counters_of(*job)["all"], 10);
}

std::string name_of(const testing::TestParamInfo<std::pair<judge_kind, judge_kind>>& one) {
  return std::string(to_string(one.param.first)) + "_then_" + std::string(to_string(one.param.second));
}

INSTANTIATE_TEST_SUITE_P(Judges, Link,
                         testing::Values(std::pair{judge_kind::server, judge_kind::server},
                                         std::pair{judge_kind::client, judge_kind::client},
                                         std::pair{judge_kind::server, judge_kind::client},
                                         std::pair{judge_kind::client, judge_kind::server}),
                         name_of);

}  // namespace
}  // namespace everseen::redis
