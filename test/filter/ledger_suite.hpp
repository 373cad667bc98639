// Tests for the ledgers of every store. Included like any_store_suite.hpp.

#pragma once

#include <set>

#include "test/filter/any_store_suite.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/model/exact_partition.hpp"

namespace everseen::any_store {

class AnyLedger : public AnyStore {
 protected:
  /// Wrong once in 10^12 keys, so that exact answers can be expected.
  static spec exact(std::uint64_t capacity = 2'000) {
    return spec_of({.capacity = capacity, .error_rate = 1e-12});
  }

  claimed claim(ledger& job, std::span<const event> events, std::uint64_t settled = 0,
                std::string_view lane = "clicks/0") {
    return claim_events(job, filter_->get_spec(), {lane, settled}, events);
  }

  /// Like a new process: no state of the old one remains.
  std::unique_ptr<ledger> begin_again(const char* job = "count") {
    filter_.reset();
    filter_ = store_->open("a", access::write);
    return filter_->open_ledger(job, "");
  }

  random_digests keys_{7};
  std::shared_ptr<stored_filter> filter_ = store_->create("a", exact());
};

TEST_P(AnyLedger, EventsAreFreshOnce) {
  auto job = filter_->open_ledger("count", "");
  auto events = new_events(keys_, 0, 6);
  events[4].key = events[1].key;
  EXPECT_EQ(text_of(claim(*job, events).verdicts), "000010");
  const std::vector<event> later = {{10, events[2].key}, {11, keys_()}};
  EXPECT_EQ(text_of(claim(*job, later).verdicts), "10");
}

TEST_P(AnyLedger, AReplayGetsItsFirstVerdicts) {
  auto job = filter_->open_ledger("count", "");
  auto events = new_events(keys_, 0, 100);
  for (std::size_t i = 50; i < 100; i += 3) events[i].key = events[i - 50].key;
  const claimed first = claim(*job, events);
  EXPECT_EQ(std::ranges::count(first.before, 1), 0);
  for (int again = 0; again < 2; ++again) {
    const claimed replay = claim(*job, events);
    EXPECT_EQ(text_of(replay.verdicts), text_of(first.verdicts));
    EXPECT_EQ(std::ranges::count(replay.before, 1), 100);
    job = begin_again();
  }
}

TEST_P(AnyLedger, AReplayInOtherBatchesGetsItsFirstVerdicts) {
  auto job = filter_->open_ledger("count", "");
  auto events = new_events(keys_, 0, 60);
  for (std::size_t i = 1; i < 60; i += 4) events[i].key = events[i - 1].key;
  std::string expected;
  for (std::size_t i = 0; i < 60; ++i) expected += i % 4 == 1 ? '1' : '0';
  (void)claim(*job, std::span(events).first(37));
  job = begin_again();
  std::string verdicts;
  for (std::size_t i = 0; i < 60; i += 12)
    verdicts += text_of(claim(*job, std::span(events).subspan(i, 12)).verdicts);
  EXPECT_EQ(verdicts, expected);
}

TEST_P(AnyLedger, SettledEventsAreForgottenAndTheOthersAreNot) {
  auto job = filter_->open_ledger("count", "");
  const auto events = new_events(keys_, 0, 300);
  (void)claim(*job, std::span(events).first(200));
  (void)claim(*job, std::span(events).subspan(200), 150);
  job = begin_again();
  const auto replay = claim(*job, events, 150);
  EXPECT_EQ(text_of(replay.verdicts).substr(150), std::string(150, '0'));
}

TEST_P(AnyLedger, LanesAndJobsAreSeparate) {
  auto job = filter_->open_ledger("count", "");
  const auto events = new_events(keys_, 5, 20);
  EXPECT_EQ(text_of(claim(*job, events).verdicts), std::string(20, '0'));
  const auto other_lane = claim(*job, events, 0, "clicks/1");
  EXPECT_EQ(text_of(other_lane.verdicts), std::string(20, '1'));
  EXPECT_EQ(std::ranges::count(other_lane.before, 1), 0);
  auto other_job = filter_->open_ledger("audit", "");
  EXPECT_EQ(text_of(claim(*other_job, events).verdicts), std::string(20, '1'));
  EXPECT_EQ(text_of(claim(*job, events).verdicts), std::string(20, '0'));
}

TEST_P(AnyLedger, TwoClaimersOfOneLaneGetTheSameVerdicts) {
  auto one = filter_->open_ledger("count", "");
  auto two = filter_->open_ledger("count", "");
  const auto events = new_events(keys_, 0, 90);
  EXPECT_EQ(text_of(claim(*one, std::span(events).first(30)).verdicts), std::string(30, '0'));
  EXPECT_EQ(text_of(claim(*two, std::span(events).first(60)).verdicts), std::string(60, '0'));
  EXPECT_EQ(text_of(claim(*one, std::span(events).subspan(30)).verdicts), std::string(60, '0'));
  const auto last = claim(*two, std::span(events).subspan(60));
  EXPECT_EQ(text_of(last.verdicts), std::string(30, '0'));
  EXPECT_EQ(std::ranges::count(last.before, 1), 30);
}

// Promise: a late settlement moves no position back (streams, Several workers).
TEST_P(AnyLedger, LateSettlementsDoNotMoveCheckpointsBack) {
  auto job = filter_->open_ledger("count", "");
  const std::vector<checkpoint> far = {{"clicks/0", 0x1000, "far"}, {"> out", 0, "12"}};
  job->settle(far);
  const std::vector<checkpoint> late = {{"clicks/0", 0x0fff, "late"}, {"> out", 0, "15"}};
  job->settle(late);
  job = begin_again();
  EXPECT_EQ(job->checkpoints().at("clicks/0").position, 0x1000U);
  EXPECT_EQ(job->checkpoints().at("clicks/0").note, "far");
  EXPECT_EQ(job->checkpoints().at("> out").note, "15");
}

// Promise: each event is settled for one of two workers that have its effect (streams, Several workers).
TEST_P(AnyLedger, SettlesEachEventForOneOfTwoWorkersThatHaveItsEffect) {
  auto slow = filter_->open_ledger("count", "");
  auto heir = filter_->open_ledger("count", "");
  const std::vector<checkpoint> first = {{"clicks/0", 100, "f", 0}, {"> a", 0, "7"}};
  EXPECT_TRUE(slow->settle(first));
  EXPECT_TRUE(heir->settle(std::vector<checkpoint>{{"clicks/0", 0x200, "f", 100}, {"> b", 0, "9"}}));
  for (const std::uint64_t position : {0x150, 0x200, 0x300}) {
    const std::vector<checkpoint> late = {
        {"clicks/1", 5, "f", 0}, {"clicks/0", position, "f", 100}, {"> a", 0, "8"}};
    EXPECT_FALSE(slow->settle(late));
  }
  auto reached = slow->checkpoints();
  EXPECT_FALSE(reached.contains("clicks/1"));
  EXPECT_EQ(reached.at("> a").note, "7");
  EXPECT_TRUE(
      slow->settle(std::vector<checkpoint>{{"clicks/1", 5, "f", 0}, {"clicks/0", 0x300, "f", 0x200}}));
  EXPECT_FALSE(heir->settle(std::vector<checkpoint>{{"clicks/2", 5, "f", 3}}));
  reached = begin_again()->checkpoints();
  EXPECT_EQ(reached.at("clicks/0").position, 0x300U);
  EXPECT_EQ(reached.at("> b").note, "9");
}

TEST_P(AnyLedger, CheckpointsAreTheLastOnesWritten) {
  auto job = filter_->open_ledger("count", "");
  EXPECT_TRUE(job->checkpoints().empty());
  const std::vector<checkpoint> first = {{"clicks/0", 7, "a"}, {"clicks/1", 0, std::string("\0\n", 2)}};
  job->settle(first);
  job->settle(std::vector<checkpoint>{{"clicks/0", ~std::uint64_t{0}, ""}});
  job = begin_again();
  const auto reached = job->checkpoints();
  ASSERT_EQ(reached.size(), 2u);
  EXPECT_EQ(reached.at("clicks/0").position, ~std::uint64_t{0});
  EXPECT_EQ(reached.at("clicks/0").note, "");
  EXPECT_EQ(reached.at("clicks/1").position, 0u);
  EXPECT_EQ(reached.at("clicks/1").note, std::string("\0\n", 2));
  EXPECT_TRUE(filter_->open_ledger("audit", "")->checkpoints().empty());
}

TEST_P(AnyLedger, KeepsTheDescriptionOfTheFirstOpener) {
  EXPECT_TRUE(store_->jobs("a").empty());
  EXPECT_EQ(filter_->open_ledger("count", "by site")->description(), "by site");
  EXPECT_EQ(filter_->open_ledger("count", "by country")->description(), "by site");
  EXPECT_EQ(filter_->open_ledger("count", std::nullopt)->description(), "by site");
  (void)filter_->open_ledger("audit", "");
  EXPECT_EQ(store_->jobs("a"), (std::vector<std::string>{"audit", "count"}));
  EXPECT_EQ(begin_again()->description(), "by site");
}

TEST_P(AnyLedger, EndedJobIsForgottenAndItsKeysAreNot) {
  auto job = filter_->open_ledger("count", "by site");
  (void)filter_->open_ledger("audit", "");
  const auto events = new_events(keys_, 0, 40);
  (void)claim(*job, events);
  job->settle(std::vector<checkpoint>{{"clicks/0", 20, ""}});
  job.reset();
  store_->end_job("a", "count");
  EXPECT_EQ(store_->jobs("a"), (std::vector<std::string>{"audit"}));
  EXPECT_THROW(store_->end_job("a", "count"), parameter_error);
  EXPECT_EQ(filter_->open_ledger("count", std::nullopt), nullptr);
  job = begin_again();
  EXPECT_EQ(job->description(), "");
  EXPECT_TRUE(job->checkpoints().empty());
  const auto again = claim(*job, events);
  EXPECT_EQ(text_of(again.verdicts), std::string(40, '1'));
  EXPECT_EQ(std::ranges::count(again.before, 1), 0);
}

TEST_P(AnyLedger, FilterWhoseJobsEndedCanBeResetAndHaveNewJobs) {
  const auto events = new_events(keys_, 0, 40);
  (void)claim(*filter_->open_ledger("count", ""), events);
  EXPECT_THROW(store_->reset("a"), error);
  store_->end_job("a", "count");
  filter_.reset();
  store_->reset("a");
  EXPECT_EQ(text_of(claim(*begin_again(), events).verdicts), std::string(40, '0'));
  filter_.reset();
  EXPECT_THROW(store_->reset("a"), parameter_error);
}

TEST_P(AnyLedger, RefusesNamesThatNoFilterCouldHave) {
  for (const std::string& name : {std::string(), std::string(1025, 'n')})
    EXPECT_THROW((void)filter_->open_ledger(name, ""), parameter_error);
}

TEST_P(AnyLedger, AcceptsAnyBytesAsAName) {
  std::vector<std::string> names = {
      std::string("\0", 1),  "..", "../../a", "a b", "count", "count.new", "!", "日志",
      std::string(1024, 'x')};
  const auto events = new_events(keys_, 0, 5);
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(text_of(claim(*filter_->open_ledger(names[i], ""), events).verdicts),
              std::string(5, i == 0 ? '0' : '1'));
  std::ranges::sort(names);
  EXPECT_EQ(store_->jobs("a"), names);
  for (const std::string& name : names) store_->end_job("a", name);
  EXPECT_THAT(store_->jobs("a"), testing::IsEmpty());
}

TEST_P(AnyLedger, AGrowingFilterGrowsInTheMiddleOfAClaim) {
  filter_ = store_->create("small", exact(30));
  auto job = filter_->open_ledger("count", "");
  const auto events = new_events(keys_, 0, 600);
  EXPECT_EQ(text_of(claim(*job, events).verdicts), std::string(600, '0'));
  EXPECT_EQ(text_of(claim(*job, events).verdicts), std::string(600, '0'));
  EXPECT_EQ(text_of(claim(*job, events, 0, "again").verdicts), std::string(600, '1'));
  EXPECT_EQ(filter_->state(0).keys() + filter_->state(1).keys() + filter_->state(2).keys(), 600u);
}

TEST_P(AnyLedger, AFullFilterStopsBeforeTheFirstEventWithoutRoom) {
  filter_ = store_->create(
      "full", spec_of({.capacity = 10, .error_rate = 1e-12, .growth = growth_kind::refuse, .partitions = 1}));
  auto job = filter_->open_ledger("count", "");
  auto events = new_events(keys_, 0, 40);
  events[39].key = events[0].key;
  const claimed got = claim(*job, events);
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::full);
  const std::string verdicts = text_of(got.verdicts);
  const std::size_t room = verdicts.find('3');
  ASSERT_GE(room, 10u);
  ASSERT_LT(room, 39u);
  // A known event after it also stops: otherwise it would be judged before the first.
  EXPECT_EQ(verdicts, std::string(room, '0') + std::string(40 - room, '3'));
  EXPECT_EQ(text_of(claim(*job, events).verdicts), verdicts);
}

TEST_P(AnyLedger, AReplayGetsItsFirstVerdictsAfterTheWindowHasMovedOn) {
  filter_ = store_->create(
      "window", spec_of({.capacity = 1'000, .error_rate = 1e-12, .window = window_spec{10min, 10}}));
  auto job = filter_->open_ledger("count", "");
  auto events = new_events(keys_, 0, 12);
  for (std::size_t i = 0; i < 12; ++i) events[i].time = at(i < 6 ? 100min : 101min);
  events[3].key = events[2].key;
  events[9].time = at(10min);
  EXPECT_EQ(text_of(claim(*job, events).verdicts), "000100000200");
  auto later = new_events(keys_, 12, 30);
  for (event& e : later) e.time = at(300min);
  EXPECT_EQ(text_of(claim(*job, later).verdicts), std::string(30, '0'));
  for (const bool again : {false, true}) {
    if (again) {
      filter_.reset();
      filter_ = store_->open("window", access::write);
      job = filter_->open_ledger("count", "");
    }
    // Events that were seen or late are late once the window has left them behind.
    EXPECT_EQ(text_of(claim(*job, events).verdicts), "000200000200") << again;
  }
  const std::vector<event> old = {{50, keys_(), at(100min)}, {51, keys_(), at(300min)}};
  EXPECT_EQ(text_of(claim(*job, old).verdicts), "20");
  EXPECT_EQ(text_of(claim(*job, old).verdicts), "20");
}

TEST_P(AnyLedger, AFilterWithJobsIsNeitherResetNorRebuilt) {
  (void)filter_->open_ledger("count", "");
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const parameter_error& e) {
      return e.what();
    }
    return {};
  };
  filter_.reset();  // a file store has one writer
  EXPECT_NE(message([&] { store_->reset("a"); }).find("has jobs (count) and cannot be reset"),
            std::string::npos);
  EXPECT_THROW((void)store_->begin_rebuild("a", exact(), {}), parameter_error);
  EXPECT_TRUE(store_->exists("a"));
  store_->drop("a");
  filter_ = store_->create("a", exact());
  EXPECT_TRUE(store_->jobs("a").empty());
}

TEST_P(AnyLedger, ALinkedFilterGetsNoJobAndAFilterWithJobsNoLink) {
  (void)store_->create("old", exact());
  (void)filter_->open_ledger("count", "");
  filter_.reset();
  EXPECT_THROW(store_->link("old", "a", {}), parameter_error);
  (void)store_->create("new", exact());
  store_->link("old", "new", {});
  const auto linked = store_->open("new", access::write);
  EXPECT_THROW((void)linked->open_ledger("count", ""), parameter_error);
}

/// Many keys, few of them new, at times that vary over the whole window: a batch moves the window past keys
/// that its own later events repeat.
TEST_P(AnyLedger, InAWindowABatchIsJudgedLikeItsEventsOneByOne) {
  const spec s =
      spec_of({.capacity = 1'000, .error_rate = 1e-12, .window = window_spec{10min, 10}, .partitions = 1});
  random_digests dice(5);
  for (int round = 0; round < 8 && !HasFatalFailure(); ++round) {
    const std::string name = "window" + std::to_string(round);
    filter_ = store_->create(name, s);
    auto job = filter_->open_ledger("count", "");
    exact_partition exact(s);
    std::vector<digest> universe(4 + 8 * static_cast<unsigned>(round));
    for (digest& d : universe) d = keys_();
    std::int64_t minute = 1'000;
    for (std::uint64_t position = 0; position < 600;) {
      std::vector<event> batch(1 + dice.word() % 40);
      std::string expected;
      for (event& e : batch) {
        if (dice.word() % 6 == 0) minute += static_cast<std::int64_t>(dice.word() % 9);
        const timed_key k = {static_cast<unsigned>(dice.word() % universe.size()),
                             (minute - static_cast<std::int64_t>(dice.word() % 12)) * 60'000};
        e = {position++, universe[k.key], at_ms(k.ms)};
        expected += text_of({exact.add(k)});
      }
      const claimed got = claim(*job, batch, batch.front().position);
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(text_of(got.verdicts), expected) << name << ' ' << position;
      if (dice.word() % 10 != 0) continue;
      filter_.reset();
      filter_ = store_->open(name, access::write);
      job = filter_->open_ledger("count", "");
    }
  }
}

/// Events arrive in order in several lanes, some with repeated keys. Their workers crash now and then, and
/// restart at the last checkpoint with other batches. Every event must have the verdict that an exact set
/// gave it the first time.
// Promise: a claim is judged and counted once through any crash, in every store (streams, How it works).
TEST_P(AnyLedger, IsExactThroughAnyCrash) {
  struct state {
    std::vector<event> events{};
    std::string first{};  // verdicts
    std::uint64_t settled = 0;
    std::uint64_t next = 0;
  };
  random_digests dice(42);
  std::map<std::string, state> lanes = {{"one", {}}, {"two", {}}};
  std::set<std::pair<std::uint64_t, std::uint64_t>> exact_set;
  std::vector<digest> known;
  for (auto& [name, lane] : lanes)
    for (std::uint64_t i = 0; i < 700; ++i) {
      const bool old = !known.empty() && dice.word() % 3 == 0;
      lane.events.push_back({i, old ? known[dice.word() % known.size()] : keys_()});
      known.push_back(lane.events.back().key);
    }
  auto job = filter_->open_ledger("count", "");
  for (int steps = 0; steps < 2'000; ++steps) {
    auto& [name, lane] = *std::next(lanes.begin(), static_cast<std::ptrdiff_t>(dice.word() % 2));
    if (dice.word() % 8 == 0) {
      job = begin_again();
      const auto reached = job->checkpoints();
      for (auto& [each, entry] : lanes) entry.next = reached.contains(each) ? reached.at(each).position : 0;
    }
    if (lane.next == lane.events.size()) continue;
    const std::size_t n = std::min<std::size_t>(1 + dice.word() % 60, lane.events.size() - lane.next);
    const auto some = std::span(lane.events).subspan(lane.next, n);
    const claimed got = claim(*job, some, lane.settled, name);
    ASSERT_TRUE(got.result) << got.result.error().message;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t position = lane.next + i;
      if (position == lane.first.size())
        lane.first += exact_set.insert({some[i].key.low, some[i].key.high}).second ? '0' : '1';
      ASSERT_EQ(text_of({got.verdicts[i]}), std::string(1, lane.first[position])) << name << ' ' << position;
    }
    lane.next += n;
    if (dice.word() % 4 == 0) {
      job->settle(std::vector<checkpoint>{{name, lane.next, "x"}});
      lane.settled = lane.next;
    }
  }
  for (const auto& [name, lane] : lanes) EXPECT_EQ(lane.next, lane.events.size()) << name;
}

}  // namespace everseen::any_store
