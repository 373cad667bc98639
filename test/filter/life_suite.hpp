// Tests for renaming and ending filters, in every store. Included after any_store_suite.hpp and
// foreign_suite.hpp.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/filter/link_suite.hpp"

namespace everseen::any_store {

using testing::ElementsAre;
using testing::IsEmpty;

/// Stores where headers can be changed.
class AnyStoreLife : public AnyStoreLinks {
 protected:
  static constexpr auto refuse = store::namesake::refuse;
  static constexpr auto replace = store::namesake::replace;

  [[nodiscard]] verdict add_one(const std::string& name, const std::string& key) const {
    filter f = opened(*store_, name);
    return add_all(f, {key}).front();
  }
  void expire_at(const std::string& name, std::optional<event_time> when) const {
    store_->expire_at(name, when);
  }
};

TEST_P(AnyStoreLife, RenamedFilterIsFoundUnderItsNewNameAloneAndContinues) {
  create("a", {.capacity = 100}, {"x"});
  store_->rename("a", "b", refuse);
  EXPECT_FALSE(store_->exists("a"));
  EXPECT_THROW((void)store_->open("a", access::read), no_filter);
  EXPECT_THAT(store_->list(), ElementsAre("b"));
  EXPECT_THAT(look_up("b", {"x", "y"}), ElementsAre(verdict::seen, verdict::fresh));
  filter grown = opened(*store_, "b");
  std::vector<std::string> many;
  for (int i = 0; i < 1'000; ++i) many.push_back("k" + std::to_string(i));
  EXPECT_THAT(add_all(grown, many), testing::Each(verdict::fresh)) << "it grows in its place";
  EXPECT_THAT(look_up("b", {"x", "k0", "k999"}), testing::Each(verdict::seen));
}

TEST_P(AnyStoreLife, OldNameOfARenamedFilterIsFreeForAnother) {
  create("a", {.capacity = 100}, {"x"});
  store_->rename("a", "b", refuse);
  create("a", {.capacity = 100}, {"y"});
  EXPECT_THAT(look_up("a", {"x", "y"}), ElementsAre(verdict::fresh, verdict::seen));
  EXPECT_THAT(look_up("b", {"x", "y"}), ElementsAre(verdict::seen, verdict::fresh));
  store_->drop("b");
  EXPECT_THAT(look_up("a", {"y"}), ElementsAre(verdict::seen));
  EXPECT_THAT(store_->list(), ElementsAre("a"));
}

TEST_P(AnyStoreLife, FilterRenamedManyTimesGetsItsFirstNameBack) {
  create("a", {.capacity = 100}, {"x"});
  int times = 0;
  for (const auto& [from, new_name] : {std::pair{"a", "b"}, {"b", "c"}, {"c", "a"}, {"a", "b"}}) {
    store_->rename(from, new_name, refuse);
    EXPECT_THAT(store_->list(), ElementsAre(new_name));
    EXPECT_EQ(add_one(new_name, "x"), verdict::seen);
    EXPECT_EQ(add_one(new_name, "new " + std::to_string(++times)), verdict::fresh);
  }
  store_->drop("b");
  EXPECT_THAT(store_->list(), IsEmpty());
  create("b");
  EXPECT_THAT(look_up("b", {"x"}), ElementsAre(verdict::fresh));
}

TEST_P(AnyStoreLife, RenamedFilterReplacesAnotherOnRequest) {
  create("a", {.capacity = 100}, {"x"});
  create("b", {.capacity = 5'000}, {"y"});
  EXPECT_THROW(store_->rename("a", "b", refuse), name_taken);
  EXPECT_THAT(look_up("b", {"x", "y"}), ElementsAre(verdict::fresh, verdict::seen));
  store_->rename("a", "b", replace);
  EXPECT_THAT(store_->list(), ElementsAre("b"));
  EXPECT_THAT(look_up("b", {"x", "y"}), ElementsAre(verdict::seen, verdict::fresh));
  EXPECT_EQ(store_->open("b", access::read)->get_spec().capacity, 100u);
}

TEST_P(AnyStoreLife, RefusesToRenameAMissingFilterOrToItsOwnName) {
  EXPECT_THROW(store_->rename("a", "b", replace), no_filter);
  EXPECT_THROW(store_->rename("a", "a", replace), no_filter);
  create("a", {.capacity = 100}, {"x"});
  EXPECT_NO_THROW(store_->rename("a", "a", replace));
  EXPECT_THROW(store_->rename("a", "a", refuse), name_taken);
  EXPECT_THROW(store_->rename("a", "", replace), parameter_error);
  EXPECT_THAT(look_up("a", {"x"}), ElementsAre(verdict::seen));
}

TEST_P(AnyStoreLife, LinkedFilterKeepsItsName) {
  if (std::string_view(GetParam().name).starts_with("everseen")) return;  // which does not support links
  create("old", {.capacity = 100}, {"x"});
  create("new");
  create("other");
  store_->link("old", "new", {});
  for (const auto& [from, new_name] :
       {std::pair{"old", "b"}, {"new", "b"}, {"other", "old"}, {"other", "new"}})
    EXPECT_THAT(refusal([&] { store_->rename(from, new_name, replace); }), HasSubstr("link --off new"))
        << from << new_name;
  EXPECT_THAT(store_->list(), ElementsAre("new", "old", "other"));
  store_->unlink("new");
  EXPECT_NO_THROW(store_->rename("old", "b", replace));
}

// Promise: EXPIRE and its kin end filters at their time, in every store (operations, Bloom commands).
TEST_P(AnyStoreLife, FilterEndsAtItsTimeAndNotBefore) {
  using std::chrono::floor;
  const auto clock = [] { return floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); };
  create("a", {.capacity = 100}, {"x"});
  EXPECT_EQ(store_->facts("a").expires_at, std::nullopt);
  const event_time later = clock() + 1h;
  expire_at("a", later);
  EXPECT_EQ(store_->facts("a").expires_at, later);
  expire_at("a", later - 10min);
  EXPECT_EQ(store_->facts("a").expires_at, later - 10min);
  expire_at("a", later + 10min);
  EXPECT_EQ(store_->facts("a").expires_at, later + 10min);
  expire_at("a", std::nullopt);
  EXPECT_EQ(store_->facts("a").expires_at, std::nullopt);
  EXPECT_EQ(add_one("a", "x"), verdict::seen);

  const event_time soon = clock() + 3s;
  expire_at("a", soon);
  EXPECT_EQ(add_one("a", "y"), verdict::fresh);
  const auto open = store_->open("a", access::write);
  while (clock() <= soon + 50ms) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(add_keys(*open, random_digests(1).take(3)).result) << "clients that have it open get an error";
  EXPECT_FALSE(check_keys(*open, random_digests(1).take(3)).result);
  EXPECT_FALSE(store_->exists("a"));
  EXPECT_THAT(store_->list(), IsEmpty());
  EXPECT_THROW((void)store_->open("a", access::read), no_filter);
}

TEST_P(AnyStoreLife, EndMovesWithTheFilterToItsNewName) {
  create("a", {.capacity = 100}, {"x"});
  const event_time later =
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 1h;
  expire_at("a", later);
  store_->rename("a", "b", refuse);
  EXPECT_EQ(store_->facts("b").expires_at, later);
  expire_at("b", std::nullopt);
  EXPECT_EQ(store_->facts("b").expires_at, std::nullopt);
  EXPECT_EQ(add_one("b", "x"), verdict::seen);
}

TEST_P(AnyStoreLife, NameOfAnEndedFilterIsFree) {
  {
    filter made("a", store_->create("a", spec_of({.capacity = 100, .error_rate = rare}), 2'500ms));
    EXPECT_THAT(add_all(made, {"x"}), ElementsAre(verdict::fresh));
  }
  create("b", {.capacity = 100}, {"y"});
  while (store_->exists("a")) std::this_thread::sleep_for(10ms);
  EXPECT_NO_THROW(store_->rename("b", "a", refuse));
  EXPECT_THAT(look_up("a", {"x", "y"}), ElementsAre(verdict::fresh, verdict::seen));
  create("b");
  store_->remove_expired();
  EXPECT_THAT(store_->list(), ElementsAre("a", "b"));
}

}  // namespace everseen::any_store
