// Tests for links between filters, in every store. Included after any_store_suite.hpp and foreign_suite.hpp.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/scatter.hpp"

namespace everseen::any_store {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double rare = 1e-12;  // so rare that no test fails by a false positive

class AnyStoreLinks : public AnyStore {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam().name) == "redis_bitfield")
      GTEST_SKIP() << "a header is changed by a script, and this server runs none";
  }
  void create(const std::string& name, spec_request request = {.capacity = 1'000},
              const std::vector<std::string>& keys = {}) const {
    request.error_rate = rare;
    filter made(name, store_->create(name, spec_of(request)));
    (void)add_all(made, keys);
  }
  [[nodiscard]] std::vector<verdict> look_up(const std::string& name, std::vector<std::string> keys) const {
    const filter f = opened(*store_, name, access::read);
    std::vector<verdict> verdicts;
    for (const std::string& key : keys)
      verdicts.push_back(f.may_contain(key) ? verdict::seen : verdict::fresh);
    return verdicts;
  }
  [[nodiscard]] std::string refusal(const std::function<void()>& run) const {
    try {
      run();
    } catch (const parameter_error& e) {
      return e.what();
    }
    return "nothing was refused";
  }
  [[nodiscard]] std::string refusal_to_link(const std::string& older, const std::string& newer) const {
    return refusal([&] { store_->link(older, newer, {}); });
  }
};

// Promise: a key that either filter has is seen, and keys are added to the newer one alone (foreign-filters,
// Linked filters).
TEST_P(AnyStoreLinks, KeyInEitherFilterIsSeenAndAddsGoToTheNewerAlone) {
  create("old", {.capacity = 1'000}, {"before"});
  create("new");
  store_->link("old", "new", {});
  {
    filter f = opened(*store_, "new");
    EXPECT_THAT(add_all(f, {"before", "later", "later"}),
                ElementsAre(verdict::seen, verdict::fresh, verdict::seen));
  }
  EXPECT_THAT(look_up("old", {"before", "later"}), ElementsAre(verdict::seen, verdict::fresh));
  store_->unlink("new");
  EXPECT_THAT(look_up("new", {"before", "later"}), Each(verdict::seen))
      << "keys that were added through it, also those that the older one had";
}

TEST_P(AnyStoreLinks, AnEffectBeforeTheKeysAreAddedGetsTheVerdictsOfBoth) {
  create("old", {.capacity = 1'000}, {"before"});
  create("new");
  store_->link("old", "new", {});
  filter f = opened(*store_, "new");
  if (!f.stored().adds_after_effects()) return;
  const std::vector<std::string_view> keys = {"before", "later"};
  std::vector<verdict> verdicts(keys.size());
  const std::vector<digest> digests = {f.hash()(keys[0]), f.hash()(keys[1])};
  scatter sorted;
  const auto batches = sorted.sort(digests, {}, f.stored().batch_partitions(), verdicts, keys);
  const auto added = f.stored().add_after(batches, [&] {
    sorted.gather();
    EXPECT_THAT(verdicts, ElementsAre(verdict::seen, verdict::fresh));
    return true;
  });
  EXPECT_EQ(added, (tally{.fresh = 1, .seen = 1}));
  EXPECT_THAT(add_all(f, {"before", "later"}), Each(verdict::seen));
}

TEST_P(AnyStoreLinks, FiltersMayDifferInHashPartitionsAndLayout) {
  std::vector<std::string> known, mixed;
  std::vector<verdict> expected;
  for (int i = 0; i < 500; ++i) {
    known.push_back("known-" + std::to_string(i));
    mixed.insert(mixed.end(), {known.back(), "other-" + std::to_string(i)});
    expected.insert(expected.end(), {verdict::seen, verdict::fresh});
  }
  create("old", {.capacity = 4'000, .layout = layout_kind::line_8x64, .partitions = 5}, known);
  create("new", {.capacity = 1'000, .hash = hash_kind::siphash, .partitions = 3});
  store_->link("old", "new", {});
  filter f = opened(*store_, "new");
  EXPECT_EQ(add_all(f, mixed), expected);
  EXPECT_THAT(add_all(f, mixed), Each(verdict::seen));
}

TEST_P(AnyStoreLinks, KeysAddedToTheOlderMeanwhileAreSeen) {
  create("old");
  create("new");
  store_->link("old", "new", {});
  filter older = opened(*store_, "old");
  filter newer = opened(*store_, "new");
  EXPECT_FALSE(newer.may_contain("late"));
  EXPECT_EQ(older.add("late"), verdict::fresh);
  EXPECT_TRUE(newer.may_contain("late"));
}

// Promise: a key that the older filter cannot take is not in it (foreign-filters, Linked filters).
TEST_P(AnyStoreLinks, KeyThatTheOlderFilterCannotAcceptIsNotInIt) {
  create("old",
         {.capacity = 1'000, .layout = layout_kind::guava64, .partitions = 1, .funnel = funnel_kind::int64},
         {"42"});
  create("new");
  store_->link("old", "new", {});
  filter f = opened(*store_, "new");
  EXPECT_THAT(add_all(f, {"42", "alice", "alice"}),
              ElementsAre(verdict::seen, verdict::fresh, verdict::seen));
}

TEST_P(AnyStoreLinks, KeysOfAWindowAreJudgedByTheirTime) {
  const event_time now(1'700'000'000'000ms);
  const spec_request windowed{.capacity = 1'000, .error_rate = rare, .window = window_spec{10min, 10}};
  {
    filter older("old", store_->create("old", spec_of(windowed)));
    older.add("recent", now);
    older.add("old", now - 9min);
  }
  (void)store_->create("new", spec_of(windowed));
  store_->link("old", "new", {});
  filter f = opened(*store_, "new");
  EXPECT_EQ(f.add("recent", now + 1min), verdict::seen);
  EXPECT_EQ(f.add("old", now + 8min), verdict::fresh);
}

TEST_P(AnyStoreLinks, FilterNamesTheOlderFilterThatItAsks) {
  create("old");
  create("new");
  EXPECT_EQ(opened(*store_, "new", access::read).stored().path().asks_first, std::nullopt);
  store_->link("old", "new", {});
  EXPECT_EQ(opened(*store_, "new", access::read).stored().path().asks_first, predecessor{"old"});
  store_->link("old", "new", 720h);
  const auto asked = opened(*store_, "new", access::read).stored().path().asks_first;
  ASSERT_TRUE(asked && asked->until);
  EXPECT_EQ(opened(*store_, "old", access::read).stored().path().asks_first, std::nullopt);
}

// Promise: the older filter cannot be dropped while it is in use (foreign-filters, Linked filters).
TEST_P(AnyStoreLinks, OlderFilterCannotBeDroppedWhileItIsInUse) {
  create("old", {.capacity = 1'000}, {"before"});
  create("new");
  store_->link("old", "new", {});
  EXPECT_THAT(refusal([&] { store_->drop("old"); }), HasSubstr("link --off new"));
  EXPECT_THAT(look_up("new", {"before"}), ElementsAre(verdict::seen));
  store_->drop("new");
  EXPECT_NO_THROW(store_->drop("old"));
}

TEST_P(AnyStoreLinks, OffEndsIt) {
  create("old", {.capacity = 1'000}, {"before"});
  create("new");
  store_->link("old", "new", {});
  store_->unlink("new");
  EXPECT_THAT(look_up("new", {"before"}), ElementsAre(verdict::fresh));
  EXPECT_THAT(refusal([&] { store_->unlink("new"); }), HasSubstr("linked to no filter"));
  EXPECT_NO_THROW(store_->drop("old"));
}

TEST_P(AnyStoreLinks, LinkThatHasExpiredIsNone) {
  create("old");
  create("new");
  store_->link("old", "new", 1s);
  std::this_thread::sleep_for(1100ms);
  EXPECT_THAT(refusal([&] { store_->unlink("new"); }), HasSubstr("linked to no filter"));
  EXPECT_EQ(opened(*store_, "new", access::read).stored().path().asks_first, std::nullopt);
  EXPECT_NO_THROW(store_->drop("old"));
}

TEST_P(AnyStoreLinks, LinkEndsWhenTheNewerFilterExpires) {
  create("old");
  (void)store_->create("new", spec_of({.capacity = 1'000}), 2'500ms);
  store_->link("old", "new", {});
  while (store_->exists("new")) std::this_thread::sleep_for(10ms);
  EXPECT_THROW(store_->unlink("new"), filter_expired);
  EXPECT_THROW(store_->link("new", "old", {}), filter_expired);
  EXPECT_THROW(store_->link("old", "new", {}), filter_expired);
  EXPECT_NO_THROW(store_->drop("old"));
}

TEST_P(AnyStoreLinks, LinkEndsWithItsFilter) {
  create("old", {.capacity = 1'000}, {"before"});
  create("new");
  store_->link("old", "new", {});
  store_->drop("new");
  create("new");
  EXPECT_THAT(look_up("new", {"before"}), ElementsAre(verdict::fresh));
}

TEST_P(AnyStoreLinks, SurvivesAResetOfTheNewer) {
  create("old", {.capacity = 1'000}, {"before"});
  create("new", {.capacity = 1'000}, {"between"});
  store_->link("old", "new", {});
  store_->reset("new");
  EXPECT_THAT(look_up("new", {"before", "between"}), ElementsAre(verdict::seen, verdict::fresh));
}

TEST_P(AnyStoreLinks, IncompatibleFiltersAreRefused) {
  for (const char* name : {"a", "b", "c"}) create(name);
  EXPECT_THAT(refusal_to_link("a", "a"), HasSubstr("itself"));
  EXPECT_THAT(refusal_to_link("a", "none"), HasSubstr("'none'"));
  EXPECT_THAT(refusal_to_link("none", "a"), HasSubstr("'none'"));
  store_->link("a", "b", {});
  EXPECT_THAT(refusal_to_link("b", "c"), HasSubstr("only one older filter"));
  EXPECT_THAT(refusal_to_link("c", "a"), HasSubstr("only one older filter"));
  EXPECT_THAT(refusal_to_link("c", "b"), HasSubstr("link --off b"));
  EXPECT_THAT(refusal_to_link("a", "c"), HasSubstr("link --off b"));
  EXPECT_NO_THROW(store_->link("a", "b", 1h)) << "the same again, with another end";
  create("windowed", {.capacity = 1'000, .window = window_spec{10min, 10}});
  EXPECT_THAT(refusal_to_link("windowed", "c"), HasSubstr("the keys would have no times"));
}

}  // namespace everseen::any_store
