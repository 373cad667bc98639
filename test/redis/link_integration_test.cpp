// A new filter that asks an old one first.

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/redis/attached.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using compat::family;
using test::redis_server;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double rare = 1e-12;  // no test fails because a filter errs

class Link : public ::testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<redis_store> store(std::string_view options = "") const {
    return store_at(server_.url(options));
  }
  filter create(const std::string& name, spec_request request = {}) const {
    request.error_rate = rare;
    const auto in = store();
    return {name, in->create(name, in->plan(request))};
  }
  filter open(const std::string& name) const { return {name, store()->open(name, access::write)}; }
  void link(const std::string& older, const std::string& newer,
            std::optional<std::chrono::milliseconds> life = {}) const {
    store()->link(older, newer, life);
  }

  redis_server server_;
};

TEST_F(Link, KeyThatEitherHasIsSeenAndAddsGoToTheNewerAlone) {
  filter older = create("old", {.capacity = 1'000});
  older.add("before");
  create("new", {.capacity = 1'000});
  link("old", "new");
  filter f = open("new");
  EXPECT_THAT(look_in(f, {"before", "later"}).verdicts, ElementsAre(verdict::seen, verdict::fresh));
  EXPECT_THAT(add_to(f, {"before", "later", "later"}).verdicts,
              ElementsAre(verdict::seen, verdict::fresh, verdict::seen));
  EXPECT_THAT(look_in(older, {"before", "later"}).verdicts, ElementsAre(verdict::seen, verdict::fresh));
  store()->unlink("new");
  EXPECT_THAT(look_in(open("new"), {"before", "later"}).verdicts, Each(verdict::seen))
      << "what was added through it, also keys that the older one had";
}

TEST_F(Link, FiltersMayDifferInSeedPartitionsAndLayout) {
  filter older = create("old", {.capacity = 40'000, .layout = layout_kind::line_8x64, .partitions = 5});
  create("new", {.capacity = 1'000, .hash = hash_kind::siphash, .partitions = 3});
  const std::vector<std::string> known = random_keys(3'000, 1);
  const std::vector<std::string> others = random_keys(3'000, 2);
  (void)add_to(older, known);
  link("old", "new");
  filter f = open("new");
  std::vector<std::string> mixed;
  std::vector<verdict> expected;
  for (std::size_t i = 0; i < known.size(); ++i) {
    mixed.insert(mixed.end(), {known[i], others[i]});
    expected.insert(expected.end(), {verdict::seen, verdict::fresh});
  }
  EXPECT_EQ(add_to(f, mixed).verdicts, expected);
  EXPECT_THAT(add_to(f, mixed).verdicts, Each(verdict::seen));
}

TEST_F(Link, OlderOneMayBeAnotherProgramsThatGoesOn) {
  const attachment a = attachment_to("bloom", family::gozero, 1'000'003);
  store()->attach("old", a, missing_key::create);
  create("new", {.capacity = 1'000});
  link("old", "new");
  filter f = open("new");
  add_as_original(server_, a, "theirs");
  EXPECT_EQ(f.add("theirs"), verdict::seen);
  EXPECT_EQ(f.add("ours"), verdict::fresh);
  EXPECT_FALSE(is_known_to_original(server_, a, "ours"));
}

TEST_F(Link, KeyThatTheOlderOneCannotTakeIsNotInIt) {
  filter older =
      create("old", {.capacity = 1'000, .layout = layout_kind::guava64, .funnel = funnel_kind::int64});
  (void)add_to(older, {"1", "2"});
  create("new", {.capacity = 1'000});
  link("old", "new");
  filter f = open("new");
  EXPECT_THAT(add_to(f, {"1", "oops", "3", "oops"}).verdicts,
              ElementsAre(verdict::seen, verdict::fresh, verdict::fresh, verdict::seen));
  EXPECT_THAT(add_to(f, {"word"}).verdicts, ElementsAre(verdict::fresh));
}

TEST_F(Link, KeysOfAWindowAreJudgedByTheirTime) {
  const event_time now(1'700'000'000'000ms);
  filter older = create("old", {.capacity = 1'000, .window = window_spec{10min, 10}});
  older.add("recent", now);
  older.add("old", now - 9min);
  create("new", {.capacity = 1'000, .window = window_spec{10min, 10}});
  link("old", "new");
  filter f = open("new");
  EXPECT_EQ(f.add("recent", now + 1min), verdict::seen);
  EXPECT_EQ(f.add("old", now + 8min), verdict::fresh);
}

TEST_F(Link, EndsByItself) {
  create("old").add("before");
  create("new");
  link("old", "new", 2s);
  filter f = open("new");
  EXPECT_TRUE(f.may_contain("before"));
  test::wait_until([&] { return !f.may_contain("before"); }, "the link ends while the filter is open");
  EXPECT_FALSE(open("new").may_contain("before"));
  EXPECT_EQ(open("new").stored().asks_first(), std::nullopt);
  store()->drop("old");
}

TEST_F(Link, OffEndsIt) {
  create("old").add("before");
  create("new");
  link("old", "new");
  store()->unlink("new");
  EXPECT_FALSE(open("new").may_contain("before"));
  EXPECT_THAT(message_of<parameter_error>([&] { store()->unlink("new"); }), HasSubstr("linked to no filter"));
  store()->drop("old");
}

TEST_F(Link, OlderOneCannotBeDroppedWhileItIsAsked) {
  create("old").add("before");
  create("new");
  link("old", "new");
  EXPECT_THAT(message_of<parameter_error>([&] { store()->drop("old"); }), HasSubstr("link --off new"));
  EXPECT_TRUE(open("new").may_contain("before"));
  store()->drop("new");
  store()->drop("old");
  EXPECT_THAT(keys_like(server_, "everseen:*"), Each(HasSubstr(":t:"))) << "tokens expire";
}

TEST_F(Link, OlderOneThatIsGoneIsAnErrorThatNamesIt) {
  create("old").add("before");
  create("new");
  link("old", "new");
  filter open_before = open("new");
  for (const std::string& key : keys_like(server_, "everseen:*old*")) server_.run({"DEL", key});
  EXPECT_THAT(message_of<format_error>([&] { (void)open("new"); }),
              AllOf(HasSubstr("'new' asks 'old' first"), HasSubstr("link --off new")));
  const auto got = add_to(open_before, {"one", "two"});
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("'old' first"));
  EXPECT_THAT(got.verdicts, Each(verdict::unknown));
  store()->unlink("new");
  EXPECT_EQ(open("new").add("one"), verdict::fresh);
}

TEST_F(Link, NothingIsAddedWhereTheOlderOneDoesNotAnswer) {
  test::cutting_proxy proxy(server_.port());
  create("old").add("before");
  filter newer = create("new");
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

TEST_F(Link, GivesEachKeyOneFreshToManyClients) {
  filter older = create("old", {.capacity = 10'000});
  create("new", {.capacity = 10'000});
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

TEST_F(Link, WhatCannotBeLinkedIsRefused) {
  create("a");
  create("b");
  create("c");
  const auto refusal = [&](const std::string& older, const std::string& newer) {
    return message_of<parameter_error>([&] { link(older, newer); });
  };
  EXPECT_THAT(refusal("a", "a"), HasSubstr("itself"));
  EXPECT_THAT(refusal("a", "none"), HasSubstr("'none'"));
  EXPECT_THAT(refusal("none", "a"), HasSubstr("'none'"));
  link("a", "b");
  EXPECT_THAT(refusal("b", "c"), HasSubstr("only one older filter"));
  EXPECT_THAT(refusal("c", "a"), HasSubstr("only one older filter"));
  EXPECT_THAT(refusal("c", "b"), HasSubstr("link --off b"));
  EXPECT_THAT(refusal("a", "c"), HasSubstr("link --off b"));
  EXPECT_NO_THROW(link("a", "b", 1h)) << "the same again, with another end";
  create("windowed", {.window = window_spec{10min, 10}});
  EXPECT_THAT(refusal("windowed", "c"), HasSubstr("without their time"));
  store()->attach("theirs", attachment_to("bloom", family::gozero), missing_key::create);
  EXPECT_THAT(refusal("c", "theirs"), HasSubstr("link theirs c"));
}

TEST_F(Link, OfTwoAtOnceThatWouldMakeAChainOneIsRefused) {
  create("a");
  create("b");
  create("c");
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> linked = 0;
    {
      const auto try_to = [&](const std::string& older, const std::string& newer) {
        try {
          link(older, newer);
          ++linked;
        } catch (const parameter_error&) {
        }
      };
      const std::jthread one(try_to, "a", "b");
      const std::jthread other(try_to, "b", "c");
    }
    ASSERT_LE(linked, 1) << round;
    for (const char* newer : {"b", "c"}) {
      try {
        store()->unlink(newer);
      } catch (const parameter_error&) {
      }
    }
  }
}

TEST_F(Link, OutlivesARebuildAndAResetOfTheNewer) {
  create("old").add("before");
  filter newer = create("new");
  link("old", "new");
  auto rebuild = store()->begin_rebuild("new", newer.get_spec(), {});
  rebuild->commit();
  EXPECT_TRUE(open("new").may_contain("before"));
  store()->reset("new");
  EXPECT_TRUE(open("new").may_contain("before"));
}

}  // namespace
}  // namespace everseen::redis
