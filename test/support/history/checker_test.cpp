// The checker itself, on histories written by hand. One that accepted everything would fail half of these
// tests.

#include "test/support/history/checker.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everseen::test::history {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto fresh = verdict::fresh;
constexpr auto seen = verdict::seen;
constexpr auto unknown = verdict::unknown;
constexpr int a = 0;
constexpr int b = 1;

/// When an operation was called, and when it returned. In milliseconds.
struct span_of_time {
  moment call;
  moment back;
};
constexpr moment ms = 1'000'000;

class History : public testing::Test {
 protected:
  std::int64_t note(span_of_time when, action kind, int name, outcome ended, std::int64_t handle = 0) {
    operation o;
    o.number = static_cast<std::int64_t>(all_.size()) + 1;
    o.client = static_cast<int>(o.number);
    o.kind = kind;
    o.call = when.call * ms;
    o.back = ended == outcome::lost ? never : when.back * ms;
    o.name = name;
    o.handle = handle;
    o.ended = ended;
    all_.push_back(o);
    return o.number;
  }
  std::int64_t create(span_of_time when, int name = a, outcome ended = outcome::done) {
    return note(when, action::create, name, ended);
  }
  std::int64_t open(span_of_time when, int name = a, outcome ended = outcome::done) {
    return note(when, action::open, name, ended);
  }
  void drop(span_of_time when, int name = a, outcome ended = outcome::done) {
    note(when, action::drop, name, ended);
  }
  void reset(span_of_time when, int name = a, outcome ended = outcome::done) {
    note(when, action::reset, name, ended);
  }
  void rename(span_of_time when, int from, int new_name, outcome ended = outcome::done) {
    note(when, action::rename, from, ended);
    all_.back().other_name = new_name;
  }
  void expire(span_of_time when, moment end, int name = a) {
    note(when, action::expire, name, outcome::done);
    all_.back().end = end * ms;
  }
  void batch(span_of_time when, action kind, std::int64_t handle, std::vector<asked_key> keys,
             outcome ended = outcome::done) {
    note(when, kind, a, ended, handle);
    all_.back().keys = std::move(keys);
  }
  void add(span_of_time when, std::int64_t handle, verdict answer, outcome ended = outcome::done) {
    batch(when, action::add, handle, {{7, answer}}, ended);
  }
  void look(span_of_time when, std::int64_t handle, verdict answer) {
    batch(when, action::check, handle, {{7, answer}});
  }

  [[nodiscard]] finding found(const exceptions& allowed = {}) const {
    record sorted = all_;
    std::ranges::stable_sort(sorted, {}, &operation::call);
    return history::check(sorted, allowed);
  }
  void expect_legal(const exceptions& allowed = {}) const {
    const finding f = found(allowed);
    EXPECT_EQ(f.is, judgement::linearizable) << f.contradiction;
  }
  void expect_illegal(const exceptions& allowed = {}) const {
    EXPECT_EQ(found(allowed).is, judgement::contradictory);
  }

  record all_{};
};

TEST_F(History, KeyIsFreshOnceAndSeenFromThenOn) {
  const auto h = create({0, 1});
  look({2, 3}, h, fresh);
  add({4, 5}, h, fresh);
  add({6, 7}, h, seen);
  look({8, 9}, h, seen);
  expect_legal();
}

TEST_F(History, KeyFreshTwiceIsIllegal) {
  const auto h = create({0, 1});
  add({2, 9}, h, fresh);
  add({3, 8}, h, fresh);
  expect_illegal();
}

TEST_F(History, LookUpThatMissesAnAcknowledgedKeyIsIllegal) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  look({4, 5}, h, fresh);
  expect_illegal();
}

TEST_F(History, LookUpBesideAnAddMaySeeItOrNot) {
  const auto h = create({0, 1});
  add({2, 9}, h, fresh);
  look({3, 4}, h, fresh);
  look({5, 6}, h, seen);
  expect_legal();
}

TEST_F(History, LookUpsBesideAnAddThatGoBackInTimeAreIllegal) {
  const auto h = create({0, 1});
  add({2, 9}, h, fresh);
  look({3, 4}, h, seen);
  look({5, 6}, h, fresh);
  expect_illegal();
}

TEST_F(History, SeenBeforeAnybodyAddedIsIllegal) {
  const auto h = create({0, 1});
  add({2, 3}, h, seen);
  add({4, 5}, h, fresh);
  expect_illegal();
}

TEST_F(History, SeenFromAnAddThatReturnedLaterIsLegal) {
  const auto h = create({0, 1});
  add({2, 3}, h, seen);
  add({1, 4}, h, fresh);
  expect_legal();
}

TEST_F(History, AcknowledgedKeyThatIsFreshAgainIsALostAdd) {
  const auto h = create({0, 1});
  add({2, 3}, h, seen);
  add({1, 3}, h, fresh);
  add({10, 11}, h, fresh);
  expect_illegal();
}

TEST_F(History, ALostAddMayHaveHappenedLateOrNever) {
  for (const verdict first : {fresh, seen}) {
    all_.clear();
    const auto h = create({0, 1});
    add({2, 0}, h, unknown, outcome::lost);
    look({4, 5}, h, fresh);
    add({20, 21}, h, first);
    add({22, 23}, h, seen);
    expect_legal();
  }
}

TEST_F(History, ALostAddThatMustHaveHappenedIsNotFreshAgain) {
  const auto h = create({0, 1});
  add({2, 0}, h, unknown, outcome::lost);
  look({4, 5}, h, seen);
  add({6, 7}, h, fresh);
  expect_illegal();
}

TEST_F(History, ALostAddHappensOnce) {
  const auto h = create({0, 1});
  add({2, 0}, h, unknown, outcome::lost);
  look({4, 5}, h, seen);
  reset({6, 7});
  look({8, 9}, h, seen);
  expect_illegal();
}

TEST_F(History, ALostAddCannotHappenBeforeItsCall) {
  const auto h = create({0, 1});
  look({2, 3}, h, seen);
  add({4, 0}, h, unknown, outcome::lost);
  expect_illegal();
}

TEST_F(History, UnknownKeyOfARefusedBatchWasNotAdded) {
  const auto h = create({0, 1});
  add({2, 3}, h, unknown, outcome::refused);
  look({4, 5}, h, seen);
  expect_illegal();
}

TEST_F(History, ResetMakesAKeyFreshOnce) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  reset({4, 5});
  add({6, 7}, h, fresh);
  expect_legal();
  add({8, 9}, h, fresh);
  expect_illegal();
}

TEST_F(History, AddBesideAResetMayBeKeptOrRemoved) {
  for (const verdict last : {fresh, seen}) {
    all_.clear();
    const auto h = create({0, 1});
    add({2, 8}, h, fresh);
    reset({3, 7});
    look({9, 10}, h, last);
    expect_legal();
  }
}

TEST_F(History, ResetThatBeganBeforeAnAddMayHappenAfterIt) {
  const auto h = create({0, 1});
  reset({2, 9});
  add({3, 4}, h, fresh);
  add({10, 11}, h, fresh);
  expect_legal();
  add({12, 13}, h, fresh);
  expect_illegal();
}

TEST_F(History, TwoAddsAreNotFreshBesideNoReset) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  reset({4, 5}, a, outcome::refused);
  add({6, 7}, h, fresh);
  expect_illegal();
  all_[2].ended = outcome::lost;
  all_[2].back = never;
  expect_legal();
}

TEST_F(History, SeenAfterAResetIsLegalForTheTimeOfTheExceptionAlone) {
  const exceptions second{.stale_seen = std::chrono::seconds(1)};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  reset({10, 20});
  add({900, 901}, h, seen);
  expect_illegal();
  expect_legal(second);
  all_.back().call = 1'500 * ms;
  all_.back().back = 1'501 * ms;
  expect_illegal(second);
}

TEST_F(History, FreshAndLookUpsAreNeverStale) {
  const exceptions second{.stale_seen = std::chrono::seconds(1)};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  reset({10, 20});
  look({30, 31}, h, seen);
  expect_illegal(second);
  all_.pop_back();
  add({30, 31}, h, fresh);
  add({40, 41}, h, fresh);
  expect_illegal(second);
}

TEST_F(History, OfAKeyTwiceInABatchTheFirstIsFresh) {
  const auto h = create({0, 1});
  batch({2, 3}, action::add, h, {{7, fresh}, {8, fresh}, {7, seen}});
  expect_legal();
  all_.back().keys[2].answer = fresh;
  expect_illegal();
  all_.back().keys = {{7, seen}, {7, fresh}};
  expect_illegal();
}

TEST_F(History, KeysAreIndependent) {
  const auto h = create({0, 1});
  batch({2, 3}, action::add, h, {{7, fresh}, {8, fresh}});
  batch({4, 5}, action::check, h, {{7, seen}, {8, fresh}});
  const finding f = found();
  EXPECT_EQ(f.is, judgement::contradictory);
  EXPECT_EQ(f.key, 8);
}

TEST_F(History, DroppedFilterAnswersNoMore) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  drop({4, 5});
  add({6, 7}, h, seen);
  expect_illegal();
  expect_legal({.orphans_answer = true});
}

TEST_F(History, FilterAnswersWhileItIsBeingDroppedWhereThatTakesTime) {
  const auto h = create({0, 1});
  drop({4, 9});
  open({5, 6}, a, outcome::absent);
  add({7, 8}, h, fresh);
  expect_illegal();
  expect_legal({.whole_in_steps = true});
  add({10, 11}, h, seen);
  expect_illegal({.whole_in_steps = true});
}

TEST_F(History, KeyThatWasAddedDuringADropMayBeSeenForTheTimeOfTheExceptionAlone) {
  const exceptions both{.stale_seen = std::chrono::seconds(1), .whole_in_steps = true};
  const auto h = create({0, 1});
  drop({2, 9});
  add({3, 4}, h, fresh);
  add({900, 901}, h, seen);
  expect_illegal({.whole_in_steps = true});
  expect_legal(both);
  all_.back().call = 1'500 * ms;
  all_.back().back = 1'501 * ms;
  expect_illegal(both);
}

TEST_F(History, TwoDropsOfOneFilterAreIllegalThoughTheyRunTogether) {
  create({0, 1});
  drop({2, 5});
  drop({4, 9});
  batch({10, 11}, action::give, 0, {{7, unknown}});
  expect_illegal();
  expect_illegal({.whole_in_steps = true});
}

TEST_F(History, ResetBesideARebuildMayEmptyAFilterTwice) {
  const exceptions steps{.whole_in_steps = true};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  note({4, 5}, action::begin, a, outcome::done);
  reset({6, 20});
  add({8, 9}, h, fresh);
  add({22, 23}, h, fresh);
  expect_illegal();
  expect_legal(steps);
  add({24, 25}, h, fresh);
  expect_illegal(steps);
}

TEST_F(History, ResetMayEmptyTheFilterThatHadTheNameBeforeARename) {
  const exceptions steps{.whole_in_steps = true};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  reset({4, 20});
  rename({5, 6}, a, b);
  add({7, 8}, h, seen);
  const auto other = create({9, 10});
  add({11, 12}, other, fresh);
  add({22, 23}, h, fresh);
  expect_illegal();
  expect_legal(steps);
  add({24, 25}, other, fresh);
  expect_illegal(steps);
}

TEST_F(History, ResetEmptiesNoFilterThatLostTheNameBeforeItBegan) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  rename({4, 5}, a, b);
  create({6, 7});
  reset({8, 20});
  drop({9, 10});
  add({22, 23}, h, fresh);
  expect_illegal({.whole_in_steps = true});
  all_.back().keys[0].answer = seen;
  expect_legal({.whole_in_steps = true});
}

TEST_F(History, EndAndRebuildMayConcernTheFilterThatHadTheNameBeforeARename) {
  const exceptions steps{.whole_in_steps = true};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  rename({5, 6}, a, b);
  create({21, 22});
  expire({4, 20}, 1'000);
  add({30, 31}, h, seen);
  open({1'200, 1'201}, b, outcome::absent);
  expect_legal(steps);
  all_.back().name = a;
  expect_illegal(steps);
  all_.resize(4);
  const auto r = note({4, 20}, action::begin, a, outcome::done);
  add({21, 22}, h, seen);
  note({23, 24}, action::commit, a, outcome::done, r);
  add({25, 26}, h, seen);
  expect_legal(steps);
  all_.back().keys[0].answer = fresh;
  expect_illegal(steps);
}

TEST_F(History, FilterOfACreationThatWasRefusedMayHaveBeenSeenWhereItTakesSteps) {
  const exceptions steps{.whole_in_steps = true};
  create({0, 9}, a, outcome::refused);
  const auto h = open({1, 2});
  add({3, 4}, h, fresh);
  drop({5, 6});
  expect_illegal();
  expect_legal(steps);
  create({10, 11}, a, outcome::refused);
  open({12, 13});
  expect_illegal(steps);
  all_.resize(4);
  all_.erase(all_.begin() + 3);
  expect_illegal(steps);
}

TEST_F(History, KeyThatIsSeenBesideAResetInARebuildMayBeKept) {
  const exceptions steps{.whole_in_steps = true};
  for (const verdict last : {fresh, seen}) {
    all_.clear();
    const auto h = create({0, 1});
    add({2, 3}, h, fresh);
    note({4, 5}, action::begin, a, outcome::done);
    reset({6, 20});
    add({7, 21}, h, seen);
    look({22, 23}, h, last);
    expect_legal(steps);
  }
  all_[4].call = 2 * ms;
  all_[4].back = 5 * ms;
  expect_illegal(steps);
  all_[4].back = 21 * ms;
  all_.erase(all_.begin() + 2);
  expect_illegal(steps);
}

TEST_F(History, RebuildThatAResetHasStoppedMayHaveBegun) {
  const exceptions steps{.whole_in_steps = true};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  note({4, 20}, action::begin, a, outcome::refused);
  reset({5, 15});
  add({6, 7}, h, fresh);
  add({8, 9}, h, fresh);
  expect_legal(steps);
  expect_illegal();
  add({10, 11}, h, fresh);
  expect_illegal(steps);
  all_.pop_back();
  all_[2].back = 4 * ms;
  expect_illegal(steps);
}

TEST_F(History, ResetThatWasRefusedBesideARebuildMayHaveEmptiedAPartition) {
  const exceptions steps{.whole_in_steps = true};
  for (const verdict last : {fresh, seen}) {
    all_.clear();
    const auto h = create({0, 1});
    add({2, 3}, h, fresh);
    note({4, 5}, action::begin, a, outcome::done);
    reset({6, 20}, a, outcome::refused);
    note({7, 8}, action::begin, a, outcome::done);
    add({22, 23}, h, last);
    expect_legal(steps);
    add({24, 25}, h, fresh);
    expect_illegal(steps);
  }
  all_.resize(all_.size() - 2);
  add({22, 23}, 1, fresh);
  expect_legal(steps);
  all_[4].call = 21 * ms;
  all_[4].back = 22 * ms;
  expect_illegal(steps);
}

TEST_F(History, LookUpMaySeeAnAdditionThatIsUndoneWhereItLooksAhead) {
  const exceptions ahead{.looks_ahead = true};
  const auto h = create({0, 1});
  add({2, 9}, h, fresh);
  look({3, 4}, h, seen);
  look({5, 6}, h, fresh);
  expect_illegal();
  expect_legal(ahead);
  look({10, 11}, h, fresh);
  expect_illegal(ahead);
  all_[1].ended = outcome::lost;
  all_[1].back = never;
  expect_legal(ahead);
  add({12, 13}, h, seen);
  look({14, 15}, h, fresh);
  expect_illegal(ahead);
}

TEST_F(History, StaleSeenIsKeptByARebuildOrNot) {
  const exceptions second{.stale_seen = std::chrono::seconds(1)};
  for (const verdict last : {fresh, seen}) {
    all_.clear();
    const auto h = create({0, 1});
    add({2, 3}, h, fresh);
    const auto r = note({10, 11}, action::begin, a, outcome::done);
    add({12, 13}, h, seen);
    note({18, 19}, action::commit, a, outcome::done, r);
    look({20, 21}, h, last);
    expect_legal(second);
  }
  expect_legal();
  all_.back().keys[0].answer = fresh;
  expect_illegal();
}

TEST_F(History, KeyOfAnAddBesideACommitMayBeAbsentInBetweenWhereItTakesSteps) {
  const exceptions steps{.whole_in_steps = true};
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  const auto r = note({10, 11}, action::begin, a, outcome::done);
  add({12, 30}, h, seen);
  note({18, 19}, action::commit, a, outcome::done, r);
  look({20, 21}, h, fresh);
  look({31, 32}, h, seen);
  expect_illegal();
  expect_legal(steps);
  all_.back().keys[0].answer = fresh;
  expect_illegal(steps);
  all_.back().keys[0].answer = seen;
  all_[3].back = 17 * ms;
  expect_illegal(steps);
}

TEST_F(History, AddBesideACommitSeesNoKeyThatItAddsItself) {
  const auto h = create({0, 1});
  const auto r = note({10, 11}, action::begin, a, outcome::done);
  add({12, 30}, h, seen);
  note({18, 19}, action::commit, a, outcome::done, r);
  expect_illegal({.whole_in_steps = true});
}

TEST_F(History, FilterThatWasCreatedAgainIsEmptyAndOldHandlesDoNotReachIt) {
  const auto old = create({0, 1});
  add({2, 3}, old, fresh);
  drop({4, 5});
  const auto h = create({6, 7});
  add({8, 9}, h, fresh);
  expect_legal();
  add({10, 11}, old, seen);
  expect_illegal();
}

TEST_F(History, NameIsTakenOrFreeForEverybody) {
  create({0, 1});
  create({2, 3}, a, outcome::taken);
  drop({4, 5});
  drop({6, 7}, a, outcome::absent);
  open({8, 9}, a, outcome::absent);
  batch({9, 10}, action::give, 0, {{7, unknown}});
  expect_legal();
  open({11, 12});
  expect_illegal();
}

TEST_F(History, CreatingATakenNameIsIllegal) {
  create({0, 1});
  create({2, 3});
  batch({9, 10}, action::give, 0, {{7, unknown}});
  expect_illegal();
}

TEST_F(History, RenamedFilterKeepsItsHandlesAndKeys) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  rename({4, 5}, a, b);
  add({6, 7}, h, seen);
  const auto other = create({8, 9});
  look({10, 11}, other, fresh);
  rename({12, 13}, b, a, outcome::taken);
  expect_legal();
  look({14, 15}, open({13, 14}, b), fresh);
  expect_illegal();
}

TEST_F(History, FilterEndsAtItsTime) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  expire({4, 5}, 1'000);
  open({500, 501});
  open({1'200, 1'201}, a, outcome::absent);
  expect_legal();
  add({1'500, 1'501}, h, seen);
  expect_illegal();
  expect_legal({.late_end = std::chrono::seconds(1)});
}

TEST_F(History, FilterDoesNotEndBeforeItsTime) {
  create({0, 1});
  batch({2, 3}, action::give, 0, {{7, unknown}});
  expire({4, 5}, 1'000);
  open({800, 801}, a, outcome::absent);
  expect_illegal();
}

TEST_F(History, NameOfAnEndedFilterLeadsToItNoMore) {
  create({0, 1});
  batch({2, 3}, action::give, 0, {{7, unknown}});
  expire({4, 5}, 1'000);
  create({1'200, 1'201});
  expect_legal();
  all_.back().ended = outcome::taken;
  expect_illegal();
}

TEST_F(History, RebuildKeepsWhatWasAddedSinceItBeganAndWhatItWasGiven) {
  const auto h = create({0, 1});
  batch({2, 3}, action::add, h, {{7, fresh}, {8, fresh}, {9, fresh}});
  const auto r = note({10, 11}, action::begin, a, outcome::done);
  batch({12, 13}, action::add, h, {{7, seen}});
  batch({14, 15}, action::give, r, {{8, unknown}});
  batch({16, 17}, action::check, h, {{7, seen}, {8, seen}, {9, seen}});
  note({18, 19}, action::commit, a, outcome::done, r);
  batch({20, 21}, action::check, h, {{7, seen}, {8, seen}, {9, fresh}});
  expect_legal();
  all_.back().keys[0].answer = fresh;
  expect_illegal();
  all_.back().keys = {{7, seen}, {8, fresh}};
  expect_illegal();
  all_.back().keys = {{9, seen}};
  expect_illegal();
}

TEST_F(History, RebuildThatWasNotCommittedForgetsNothing) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  const auto r = note({10, 11}, action::begin, a, outcome::done);
  note({18, 19}, action::commit, a, outcome::refused, r);
  add({20, 21}, h, fresh);
  expect_illegal();
}

TEST_F(History, EventsHaveTheVerdictsOfTheirFirstClaim) {
  const auto h = create({0, 1});
  batch({2, 3}, action::claim, h, {{7, fresh, 0}, {7, seen, 1}});
  batch({4, 5}, action::claim, h, {{7, fresh, 0, true}, {7, seen, 1, true}, {7, seen, 2}});
  look({6, 7}, h, seen);
  expect_legal();
  batch({8, 9}, action::claim, h, {{7, seen, 0, true}});
  expect_illegal();
}

TEST_F(History, EventThatNobodyClaimedWasNotClaimedBefore) {
  const auto h = create({0, 1});
  batch({2, 3}, action::claim, h, {{7, fresh, 0, true}});
  expect_illegal();
}

TEST_F(History, ALostClaimMayBeRecordedAndIsThenReplayed) {
  const auto h = create({0, 1});
  batch({2, 0}, action::claim, h, {{7, unknown, 0}}, outcome::lost);
  batch({4, 5}, action::claim, h, {{7, fresh, 0}});
  batch({6, 7}, action::claim, h, {{7, seen, 1}});
  expect_legal();
  add({8, 9}, h, fresh);
  expect_illegal();
}

TEST_F(History, ContradictionIsTheFewOperationsThatMakeIt) {
  const auto h = create({0, 1});
  for (moment t = 10; t < 100; t += 10) {
    add({t, t + 1}, h, fresh);
    look({t + 2, t + 3}, h, seen);
    reset({t + 4, t + 5});
  }
  add({100, 101}, h, fresh);
  look({102, 103}, h, seen);
  add({110, 112}, h, seen);
  look({115, 117}, h, fresh);
  look({120, 121}, h, seen);
  const std::string text = found().contradiction;
  EXPECT_THAT(text, HasSubstr("k7:fresh"));
  EXPECT_THAT(text, Not(HasSubstr("reset"))) << text;
  EXPECT_LE(std::ranges::count(text, '\n'), 3) << text;
}

TEST_F(History, ContradictionShowsAHandleThatNobodyUsed) {
  drop({0, 1}, a, outcome::absent);
  batch({0, 1}, action::give, 0, {{7, unknown}});
  const auto h = open({2, 3});
  EXPECT_THAT(found().contradiction, HasSubstr("open a")) << found().contradiction;
  add({4, 0}, h, unknown, outcome::lost);
  EXPECT_THAT(found().contradiction, HasSubstr("open a")) << found().contradiction;
}

TEST_F(History, ContradictionMayBeInABatchOfWhichAPartFailed) {
  const auto h = create({0, 1});
  add({2, 3}, h, fresh);
  batch({4, 5}, action::check, h, {{8, unknown}, {7, fresh}}, outcome::refused);
  drop({6, 7});
  EXPECT_THAT(found().contradiction, HasSubstr("check by")) << found().contradiction;
}

TEST_F(History, ManyOperationsAtOnceAreDecided) {
  const auto h = create({0, 1});
  for (moment i = 0; i < 120; ++i) {
    add({10 + 10 * i, 90 + 10 * i}, h, i == 0 ? fresh : seen);
    if (i % 15 == 0) add({11 + 10 * i, 0}, h, unknown, outcome::lost);
    if (i == 40 || i == 80) reset({13 + 10 * i, 50 + 10 * i});
    if (i == 41 || i == 81) all_.back().keys[0].answer = fresh;
  }
  const finding f = found();
  EXPECT_EQ(f.is, judgement::linearizable) << f.contradiction;
  EXPECT_LT(f.visited, 5'000U);
  add({4'000, 4'001}, h, fresh);
  EXPECT_EQ(found().is, judgement::contradictory);
}

}  // namespace
}  // namespace everseen::test::history
