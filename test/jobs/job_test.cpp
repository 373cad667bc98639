// A job in one process, with test doubles for its parts. That crashes do not change its results is shown by
// test/jobs/crash_matrix_integration_test.cpp, on real stores.

#include "everseen/jobs/job.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/jobs/file/file_sink.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/port/batch_results.hpp"

#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using strings = std::vector<std::string>;

/// Lines of a list, several at a time.
class list_source final : public source {
 public:
  explicit list_source(strings lines, std::size_t at_a_time = 2) : at_a_time_(at_a_time) {
    for (std::string& line : lines) lines_.push_back(line.append(block_reader::padding, ' '));
  }
  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) override { begun_with = reached; }
  state next(source_batch& into, std::chrono::milliseconds) override {
    if (next_ == lines_.size()) return never_ends ? state::nothing_yet : state::ended;
    into = {};
    if (next_ == again_at) {
      again_at = 0;
      next_ = 0;
    }
    into.lane = "list";
    into.begins = next_ == 0;
    if (into.begins) ++generation_;
    into.generation = generation_;
    for (std::size_t i = 0; i < at_a_time_ && next_ < lines_.size(); ++i, ++next_) {
      const std::string_view padded = lines_[next_];
      into.records.push_back({padded.substr(0, padded.size() - block_reader::padding), next_ * 10});
    }
    into.next = next_ * 10;
    if (next_ == lines_.size()) {
      into.next += unread_at_end;
      into.ends = marks_its_end;
    }
    return state::records;
  }
  checkpoint reached(const source_batch& batch) override { return {batch.lane, batch.next, "note"}; }
  std::optional<checkpoint> known_before(const source_batch& batch) const override {
    if (batch.next != lines_.size() * 10 || how_to_tell_the_last.empty()) return {};
    return checkpoint{batch.lane, batch.records.front().position, how_to_tell_the_last};
  }
  void settled(std::span<const checkpoint> settlements) override {
    for (const checkpoint& each : settlements) account = each.position;
  }
  void keep_alive() override { kept_alive = true; }
  void finish() override { finished = true; }

  std::map<std::string, checkpoint, std::less<>> begun_with{};
  std::uint64_t account = 0;
  std::atomic<bool> kept_alive = false;
  bool finished = false;
  bool never_ends = false;
  bool marks_its_end = false;
  std::uint64_t unread_at_end = 0;  // behind the last line there is something that is no record
  std::string how_to_tell_the_last{};
  std::size_t again_at = 0;  // starts over, once, before it returns this line

 private:
  strings lines_;
  std::size_t at_a_time_;
  std::size_t next_ = 0;
  std::uint64_t generation_ = 0;
};

class list_sink final : public sink {
 public:
  void begin(std::string_view note) override { begun_with = note; }
  void put(const judged_batch& batch) override {
    for (std::size_t i = 0; i < batch.verdicts.size(); ++i) {
      if (!batch.goes_out(i)) continue;
      if (batch.from.records[i].bytes == breaks_at) throw storage_error("no room", ENOSPC, "list");
      lines.emplace_back(batch.from.records[i].bytes);
    }
  }
  std::string commit(std::span<const checkpoint> reached) override {
    if (std::exchange(commit_fails, false)) throw backend_error("the sink is away");
    if (!reached.empty() && when_committing) when_committing();
    settled = lines.size();
    ++commits;
    return std::to_string(settled);
  }
  /// Like a run after a crash.
  void take_back() { lines.resize(settled); }

  strings lines{};
  std::size_t settled = 0;
  std::string begun_with{};
  std::string breaks_at{"\n"};  // never
  bool commit_fails = false;
  std::function<void()> when_committing{};
  int commits = 0;
};

/// A ledger whose store is unavailable at some of the calls.
class distant_ledger final : public ledger {
 public:
  explicit distant_ledger(ledger& real) : real_(real) {}
  batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) override {
    if (away_at.count(++calls_) == 0) return real_.claim(from, batches);
    if (when_away) when_away();
    std::vector<partition_batch> keys;
    for (const claim_batch& each : batches) keys.push_back(each.keys);
    return unanswered(keys, batch_failure::cause::backend, "the server is away");
  }
  bool settle(std::span<const checkpoint> reached) override {
    if (away_at.count(++calls_) != 0) throw backend_error("the server is away");
    return real_.settle(reached);
  }
  std::map<std::string, checkpoint, std::less<>> checkpoints() const override {
    if (checkpoints_fail > 0 && asked_++ > 0 && checkpoints_fail-- > 0)
      throw backend_error("the server is away");
    return real_.checkpoints();
  }
  const std::string& description() const noexcept override { return real_.description(); }
  job_size size() const override { return real_.size(); }
  void visit_counters(const counter_visitor& visit) const override { real_.visit_counters(visit); }

  std::set<int> away_at{};
  std::function<void()> when_away{};
  mutable int checkpoints_fail = 0;  // this many times, but not when the job begins

 private:
  ledger& real_;
  int calls_ = 0;
  mutable int asked_ = 0;
};

class Job : public testing::Test {
 protected:
  /// Settles after each batch, so that calls can be counted.
  static job_options options() {
    job_options o;
    o.sink_name = "> list";
    o.settle_every = std::chrono::milliseconds(0);
    return o;
  }
  job_result run(const strings& lines, job_options o = options()) {
    list_source from(lines);
    return run(from, std::move(o));
  }
  job_result run(source& from, job_options o = options()) {
    job work({seen, *book, from, &target}, std::move(o));
    work.run();
    return work.result();
  }

  std::shared_ptr<store> place = open_store("mem:");
  filter seen{"f", place->create("f", place->plan({.capacity = 1000, .error_rate = 1e-12}))};
  std::unique_ptr<ledger> book = seen.stored().open_ledger("job", "what it does");
  list_sink target;
};

TEST_F(Job, WritesEachFreshEventOnceAndInOrder) {
  const job_result result = run({"a", "b", "a", "c", "c"});
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c"));
  EXPECT_EQ(result.verdicts, (tally{.fresh = 3, .seen = 2}));
  EXPECT_EQ(result.events, 5U);
}

TEST_F(Job, ReportsSettlementsToTheSourceAndTheSinksNote) {
  list_source from({"a", "b", "c"});
  run(from);
  EXPECT_EQ(from.account, 30U);
  EXPECT_TRUE(from.finished);
  list_source again({});
  run(again);
  EXPECT_EQ(again.begun_with.at("list").position, 30U);
  EXPECT_EQ(again.begun_with.at("list").note, "note");
  EXPECT_EQ(again.begun_with.count("> list"), 0U);
  EXPECT_EQ(target.begun_with, "3");
}

TEST_F(Job, SkipsSettledEventsThatTheSourceReturnsAgain) {
  run({"a", "b", "c"});
  const job_result result = run({"a", "b", "c", "a", "d"});
  EXPECT_EQ(result.events, 2U);
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d"));
}

// Promise: fail ends the job, and the next run loses and doubles nothing (streams, Outages).
TEST_F(Job, EndsAtAnOutageAndLosesAndDoublesNothing) {
  distant_ledger away(*book);
  away.away_at = {4};  // 1: the sink's first note, 2: a claim, 3: its settlement
  list_source from({"a", "b", "c", "d", "e"});
  job work({seen, away, from, &target}, options());
  EXPECT_THROW(work.run(), backend_error);
  EXPECT_THAT(target.lines, ElementsAre("a", "b"));
  run({"a", "b", "c", "d", "e"});
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e"));
}

// Promise: pass loses no event (streams, Outages).
TEST_F(Job, ContinuesThroughAnOutageWithoutLosingAnything) {
  distant_ledger away(*book);
  away.away_at = {4, 5, 6};  // a claim, and what would settle it
  list_source from({"a", "b", "c", "d", "e", "f", "a"});
  job_options o = options();
  o.on_outage = job_options::outage::pass;
  job work({seen, away, from, &target}, std::move(o));
  work.run();
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_GE(work.result().verdicts.unknown, 2U);
  EXPECT_EQ(work.result().passed->message, "the server is away");
  EXPECT_EQ(from.account, 70U);
}

TEST_F(Job, RecordsHowToIdentifyABatchBeforeClaimingIt) {
  distant_ledger away(*book);
  away.away_at = {
      5};  // 1: the sink's first note, 2 and 3: the first two, 4: how to identify the last, 5: its claim
  list_source from({"a", "b", "c"});
  from.how_to_tell_the_last = "how";
  job work({seen, away, from, &target}, options());
  EXPECT_THROW(work.run(), backend_error);
  EXPECT_EQ(book->checkpoints().at("list").position, 20U);
  EXPECT_EQ(book->checkpoints().at("list").note, "how");
  run({"a", "b", "c"});
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c"));
}

/// A ledger in which another worker settles a lane, once, just before this worker settles.
class contested_ledger final : public ledger {
 public:
  explicit contested_ledger(ledger& real) : real_(real) {}
  batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) override {
    const auto known = real_.checkpoints();
    const auto lane = known.find(from.lane);
    notes_at_claims.push_back(lane == known.end() ? "" : lane->second.note);
    return real_.claim(from, batches);
  }
  bool settle(std::span<const checkpoint> reached) override {
    const bool has_lanes = std::ranges::any_of(reached, [](const auto& each) { return each.lane == "list"; });
    if (has_lanes && other_settles)
      real_.settle(std::vector<checkpoint>{{"list", *std::exchange(other_settles, {}), "of another"}});
    const bool done = real_.settle(reached);
    if (done && has_lanes && std::exchange(loses_an_answer, false)) throw backend_error("no answer");
    return done;
  }
  std::map<std::string, checkpoint, std::less<>> checkpoints() const override { return real_.checkpoints(); }
  const std::string& description() const noexcept override { return real_.description(); }
  job_size size() const override { return real_.size(); }
  void visit_counters(const counter_visitor& visit) const override { real_.visit_counters(visit); }

  std::optional<std::uint64_t> other_settles{};
  bool loses_an_answer = false;
  strings notes_at_claims{};  // of the lane

 private:
  ledger& real_;
};

/// A ledger whose server is replaced by one with less data, after it has settled something in a lane.
class replaced_ledger final : public ledger {
 public:
  replaced_ledger(ledger& first, ledger& then) : current_(&first), then_(then) {}
  batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) override {
    return current_->claim(from, batches);
  }
  bool settle(std::span<const checkpoint> reached) override {
    const bool done = current_->settle(reached);
    if (std::ranges::any_of(reached, [](const auto& each) { return each.lane == "list"; })) current_ = &then_;
    return done;
  }
  std::map<std::string, checkpoint, std::less<>> checkpoints() const override {
    return current_->checkpoints();
  }
  const std::string& description() const noexcept override { return current_->description(); }
  job_size size() const override { return current_->size(); }
  void visit_counters(const counter_visitor& visit) const override { current_->visit_counters(visit); }

 private:
  ledger* current_;
  ledger& then_;
};

/// The output of a job to a file beside another worker.
std::string put_into_a_file(store& place, job_options o, std::optional<std::uint64_t> other_settles,
                            bool loses_an_answer) {
  const test::scratch_directory directory;
  const std::string path = (directory.path() / "fresh").string();
  const std::string name = directory.path().filename().string();
  filter fresh{name, place.create(name, place.plan({.capacity = 1000, .error_rate = 1e-12}))};
  const auto real = fresh.stored().open_ledger("job", "");
  contested_ledger contested(*real);
  contested.other_settles = other_settles;
  contested.loses_an_answer = loses_an_answer;
  list_source from({"a", "b", "c", "d", "e", "f"});
  file_sink target(path, [] { return std::string("job"); });
  job work({fresh, contested, from, &target}, std::move(o));
  work.run();
  EXPECT_EQ(from.account, 60U);
  EXPECT_EQ(real->checkpoints().at("list").position, std::max<std::uint64_t>(60, other_settles.value_or(0)));
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

TEST_F(Job, LeavesEventsToTheWorkerThatSettledThem) {
  const std::string lines = "a\nb\nc\nd\ne\nf\n";
  for (const std::uint64_t other : {10U, 20U, 30U, 60U, 70U}) {
    job_options o = options();
    EXPECT_EQ(put_into_a_file(*place, o, other, false), lines.substr(std::min<std::size_t>(12, other / 5)));
    o.settle_every = std::chrono::hours(1);
    EXPECT_EQ(put_into_a_file(*place, o, other, false), lines.substr(std::min<std::size_t>(12, other / 5)));
  }
}

TEST_F(Job, WritesSettledEventsOnceAfterALostAnswer) {
  job_options o = options();
  o.on_outage = job_options::outage::pass;
  EXPECT_EQ(put_into_a_file(*place, o, {}, true), "a\nb\nc\nd\ne\nf\n");
}

// Promise: a running job notices that its server lost data (streams, Crashes of servers and machines).
TEST_F(Job, EndsWhereTheLedgerLostAcknowledgedData) {
  for (const std::uint64_t left : {0U, 10U}) {
    const test::scratch_directory directory;
    const std::string name = directory.path().filename().string();
    filter after{name, place->create(name, place->plan({.capacity = 1000, .error_rate = 1e-12}))};
    const auto first = seen.stored().open_ledger("left-" + std::to_string(left), "");
    const auto then = after.stored().open_ledger("job", "");
    if (left > 0) then->settle(std::vector<checkpoint>{{"list", left, "old"}});
    replaced_ledger replaced(*first, *then);
    list_source from({"a", "b", "c", "d"});
    job work({seen, replaced, from, &target}, options());
    EXPECT_THROW(work.run(), format_error);
    EXPECT_EQ(from.account, 20U);
    EXPECT_EQ(then->checkpoints().count("> list"), 0U);
  }
}

TEST_F(Job, RecordsHowToIdentifyABatchThoughAnotherWorkerHasSettledTheEventsBeforeIt) {
  contested_ledger contested(*book);
  contested.other_settles = 20;
  list_source from({"a", "b", "c"});
  from.how_to_tell_the_last = "how";
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  const test::scratch_directory directory;
  file_sink fresh((directory.path() / "fresh").string(), [] { return std::string("job"); });
  job work({seen, contested, from, &fresh}, std::move(o));
  work.run();
  EXPECT_THAT(contested.notes_at_claims, ElementsAre("", "how"));
}

TEST_F(Job, SettlesAllEventsBeforeAnInvalidRecord) {
  job_options o = options();
  o.events.key = {{field_rule::kind::delimited, 2, ',', {}}};
  list_source from({"1,a", "2,b", "3,c", "bad", "5,d"});
  job work({seen, *book, from, &target}, o);
  EXPECT_THROW(work.run(), format_error);
  EXPECT_THAT(target.lines, ElementsAre("1,a", "2,b", "3,c"));
  EXPECT_EQ(from.account, 30U);
  o.reading.on_bad = bad_events::skip;
  EXPECT_EQ(run({"1,a", "2,b", "3,c", "bad", "5,d"}, o).bad, 1U);
  EXPECT_THAT(target.lines, ElementsAre("1,a", "2,b", "3,c", "5,d"));
}

TEST_F(Job, EndsInOrderWhenItIsStopped) {
  list_source from({"a", "b", "c"});
  from.never_ends = true;
  job* running = nullptr;
  job_options o = options();
  o.progress = [&](const job_result& result) {
    if (result.events == 3) running->stop();
  };
  job work({seen, *book, from, &target}, std::move(o));
  running = &work;
  work.run();
  EXPECT_EQ(from.account, 30U);
  EXPECT_TRUE(from.finished);
}

// Otherwise a group would give its lanes to others, and refuse its last settlement.
TEST_F(Job, KeepsASourceAliveThatHasEndedUntilAllIsSettled) {
  list_source from({"a", "b"});
  target.when_committing = [&] {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!from.kept_alive && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  };
  run(from);
  EXPECT_TRUE(from.kept_alive);
  EXPECT_THAT(target.lines, ElementsAre("a", "b"));
}

// Promise: nothing is claimed after abandoned events (streams, The life of a job).
TEST_F(Job, StoppedInAnOutageClaimsNothingAfterAbandonedEvents) {
  distant_ledger away(*book);
  away.away_at = {4};  // 1: the sink's first note, 2: a claim, 3: its settlement
  list_source from({"a", "b", "c", "d", "e", "f", "g", "h"});
  job work({seen, away, from, &target}, options());
  away.when_away = [&] { work.stop(); };
  work.run();
  EXPECT_THAT(target.lines, ElementsAre("a", "b"));
  EXPECT_EQ(from.account, 20U);
  EXPECT_TRUE(from.finished);
  run({"a", "b", "c", "d", "e", "f", "g", "h"});
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
}

TEST_F(Job, SettlesSoonerWhereManyEventsAreUnsettled) {
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  o.most_unsettled = 4;
  run({"a", "b", "c", "d", "e", "f", "g", "h", "i"}, o);
  EXPECT_EQ(target.commits, 4);  // where it begins, four, four more, and the rest
}

TEST_F(Job, SettlesTheEndOfALaneImmediately) {
  list_source from({"a", "b", "c"});
  from.never_ends = from.marks_its_end = true;
  from.unread_at_end = 7;
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  job* running = nullptr;
  o.progress = [&](const job_result&) {
    if (from.account == 37) running->stop();
  };
  job work({seen, *book, from, &target}, std::move(o));
  running = &work;
  work.run();
  EXPECT_EQ(target.commits, 2) << "at the beginning and at the end";
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c"));
}

/// Such as the marks of transactions in a topic.
TEST_F(Job, SettlesALaneThatMovesWithoutRecords) {
  struct : source {
    void begin(const std::map<std::string, checkpoint, std::less<>>&) override {}
    state next(source_batch& into, std::chrono::milliseconds) override {
      if (std::exchange(given, true)) return state::ended;
      into = {.lane = "list", .next = 20, .generation = 1, .begins = true};
      return state::records;
    }
    checkpoint reached(const source_batch& batch) override { return {batch.lane, batch.next}; }
    void settled(std::span<const checkpoint> settlements) override { account = settlements.back().position; }
    void finish() override {}
    bool given = false;
    std::uint64_t account = 0;
  } from;
  run(from);
  EXPECT_EQ(from.account, 20U);
  EXPECT_EQ(book->checkpoints().at("list").position, 20U);
  EXPECT_THAT(target.lines, IsEmpty());
}

// Promise: nothing is settled with a sink that failed halfway (streams, The life of a job).
TEST_F(Job, SettlesNothingWithASinkThatFailedHalfway) {
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  target.breaks_at = "d";
  list_source from({"a", "b", "c", "d", "e"});
  job work({seen, *book, from, &target}, o);
  EXPECT_THROW(work.run(), storage_error);
  EXPECT_EQ(from.account, 0U);
  target.breaks_at = "\n";
  target.take_back();
  run({"a", "b", "c", "d", "e"});
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(Job, EndsWhereItCannotWriteSeenEvents) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  output aside(full, "aside");
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  o.seen_to = &aside;
  list_source from({"a", "b", "c", "a", "e"});
  job work({seen, *book, from, &target}, o);
  EXPECT_THROW(work.run(), storage_error);
  ::close(full);
  EXPECT_EQ(target.settled, 2U);
  EXPECT_EQ(from.account, 20U);
  target.take_back();
  run({"a", "b", "c", "a", "e"});
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "e"));
}

// Promise: a lane that returns to a worker is put once (streams, Several workers).
TEST_F(Job, LaneThatReturnsIsPutOnce) {
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  list_source from({"a", "b", "c", "d", "e", "f"});
  from.again_at = 4;
  EXPECT_EQ(run(from, o).verdicts, (tally{.fresh = 6}));
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(from.account, 60U);
}

TEST_F(Job, LaneThatReturnsDuringAnOutageIsPutOnce) {
  distant_ledger away(*book);
  away.away_at = {4};  // 1: the sink's first note, 2 and 3: claims, 4: what would settle them
  job_options o = options();
  o.settle_every = std::chrono::hours(1);
  o.on_outage = job_options::outage::pass;
  list_source from({"a", "b", "c", "d", "e", "f"});
  from.again_at = 4;
  job work({seen, away, from, &target}, o);
  work.run();
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(from.account, 60U);
}

// Promise: a full filter ends the job before the first event without room (streams, The life of a job).
TEST_F(Job, FullFilterEndsItAfterTheLastEventWithRoom) {
  const auto s = place->plan({.capacity = 3, .error_rate = 1e-12, .growth = growth_kind::refuse});
  filter small{"small", place->create("small", s)};
  const auto its_book = small.stored().open_ledger("job", "what it does");
  list_source from({"a", "b", "a", "c", "d", "e"}, 6);
  job work({small, *its_book, from, &target}, options());
  EXPECT_THROW(work.run(), full_error);
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c"));
  EXPECT_EQ(from.account, 40U);
}

TEST_F(Job, PassesEventsWhenTheStoreCannotReturnCheckpoints) {
  distant_ledger away(*book);
  away.checkpoints_fail = 1;
  job_options o = options();
  o.on_outage = job_options::outage::pass;
  list_source from({"a", "b", "c", "d", "a"});
  job work({seen, away, from, &target}, std::move(o));
  work.run();
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "a"));  // nothing was claimed of the first two
  EXPECT_EQ(work.result().verdicts.unknown, 2U);
  EXPECT_EQ(from.account, 50U);
}

TEST_F(Job, DoesNotPassEventsWhenTheSinkFails) {
  run({"a"});
  job_options o = options();
  o.on_outage = job_options::outage::pass;
  target.commit_fails = true;
  list_source from({"a", "b", "c"});
  job work({seen, *book, from, &target}, o);
  EXPECT_THROW(work.run(), backend_error);
  EXPECT_EQ(from.account, 0U);
}

// Nobody else reads what it left there.
TEST_F(Job, ReadsALaneAgainThatItLostAfterTheEndAndGotBack) {
  /// Its lane is lost when all is read and one batch of three is judged, and comes back.
  class returning_lane final : public source {
   public:
    void begin(const std::map<std::string, checkpoint, std::less<>>&) override {}
    state next(source_batch& into, std::chrono::milliseconds wait) override {
      const bool back = lost_;
      const state got = (back ? second_ : first_).next(into, wait);
      into.generation = back ? 2 : 1;
      return got;
    }
    void keep_alive() override { is_read_ = true; }
    checkpoint reached(const source_batch& batch) override { return {batch.lane, batch.next}; }
    ownership ownership_of(std::string_view, std::uint64_t generation) const override {
      if (generation == 2 || asked_++ == 0) return ownership::ours;
      test::wait_until([&] { return is_read_.load(); }, "all is read");
      return ownership::gone;
    }
    void abandoned(const source_batch&) override { lost_ = true; }
    void finish() override {}

   private:
    static strings all() { return {"a", "b", "c", "d", "e", "f"}; }
    list_source first_{all()}, second_{all()};
    std::atomic<bool> lost_ = false, is_read_ = false;
    mutable int asked_ = 0;
  } from;
  EXPECT_EQ(run(from).events, 6U);
  EXPECT_THAT(target.lines, ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST_F(Job, AbandonsALaneOfAnotherWorker) {
  class lost_lane final : public source {
   public:
    void begin(const std::map<std::string, checkpoint, std::less<>>&) override {}
    state next(source_batch& into, std::chrono::milliseconds wait) override { return all.next(into, wait); }
    checkpoint reached(const source_batch& batch) override { return all.reached(batch); }
    ownership ownership_of(std::string_view, std::uint64_t) const override { return ownership::gone; }
    void abandoned(const source_batch& batch) override { given_up += batch.records.size(); }
    void finish() override {}
    list_source all{{"a", "b", "c"}};
    std::size_t given_up = 0;
  } from;
  EXPECT_EQ(run(from).events, 0U);
  EXPECT_EQ(from.given_up, 3U);
  EXPECT_THAT(target.lines, IsEmpty());
}

}  // namespace
}  // namespace everseen
