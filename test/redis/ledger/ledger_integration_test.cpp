// Jobs on real servers: cut connections, failed servers, second claimers and foreign changes. Tests for all
// stores are in test/filter/ledger_suite.hpp.

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/lane_record.hpp"

#include "test/redis/stored.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using test::claim_events;
using test::claimed;
using test::counters_of;
using test::cutting_proxy;
using test::event;
using test::new_events;
using test::redis_server;
using test::text_of;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using direction = cutting_proxy::direction;

using counts = std::map<std::string, std::int64_t>;

class Ledger : public testing::Test {
 protected:
  explicit Ledger(std::vector<std::string> config = test::with_module()) : server_(std::move(config)) {}

  spec exact(std::uint64_t capacity, std::uint32_t partitions = 1) const {
    return planned(*direct_, {.capacity = capacity, .error_rate = 1e-12, .partitions = partitions});
  }
  claimed claim(ledger& job, std::span<const event> events, std::uint64_t settled = 0) {
    return claim_events(job, spec_, {"clicks/0", settled}, events);
  }
  std::shared_ptr<stored_filter> make(const spec& s) { return direct_->create("a", spec_ = s); }
  std::string list() const { return job_keys::list(identity_at(server_, "a", spec_).keys); }
  bool is_listed(const char* job) const { return server_.run({"HEXISTS", list(), job}) == "1"; }
  /// The records of the lanes, and the counters, of the only job in the first partition.
  std::string records() const { return key_like(server_, "everseen:{*/0}:l*"); }
  std::vector<std::string> all_records() const { return keys_like(server_, "everseen:{*/*}:l*"); }
  std::vector<std::string> all_checkpoints() const { return keys_like(server_, "everseen:{*}:c*"); }

  redis_server server_;
  cutting_proxy proxy_{server_.port()};
  std::shared_ptr<redis_store> direct_ = store_at(server_.url());
  std::shared_ptr<redis_store> cut_ = store_at(proxy_.url());
  spec spec_;
  test::random_digests keys_{3};
};

/// With two sets of counters: the total, and those of three sites.
std::vector<event> counted(std::vector<event> events) {
  for (event& e : events) e.counters = {"0", "1\tsite" + std::to_string(e.key.low % 3)};
  return events;
}

void count_in(counts& exact, const event& e) {
  for (const std::string& name : e.counters) ++exact[name];
}

// Promise: a claim whose connection is cut at any byte is judged and counted once (streams, How it works).
TEST_F(Ledger, ClaimCutAtEveryByteIsJudgedAndCountedOnce) {
  (void)make(exact(10'000));
  const opened_job job(cut_->open("a", access::write));
  counts exact_counts;
  std::uint64_t next = 0;
  std::vector<event> last;
  const auto step = [&](const std::string& where) {
    auto events = counted(new_events(keys_, next, 3));
    if (!last.empty()) events[1].key = last[0].key;
    events = counted(events);
    const claimed got = claim(*job, events, next);
    ASSERT_TRUE(got.result) << where << ": " << got.result.error().message;
    ASSERT_EQ(text_of(got.verdicts), last.empty() ? "000" : "010") << where;
    ASSERT_THAT(got.before, Each(0)) << where << ": no other claim judged them";
    for (std::size_t i = 0; i < 3; ++i)
      if (got.verdicts[i] == verdict::fresh) count_in(exact_counts, events[i]);
    next += 3;
    last = events;
  };
  step("first");
  for (const direction w : {direction::to_server, direction::to_client}) {
    std::size_t cuts = 0;
    for (bool cut = true; cut && !HasFailure(); ++cuts) {
      proxy_.cut_after(w, cuts);
      step("cut after " + std::to_string(cuts));
      cut = proxy_.has_cut();
    }
    EXPECT_GT(cuts, w == direction::to_server ? 200u : 5u);
  }
  EXPECT_EQ(counters_of(*job), exact_counts);
}

TEST_F(Ledger, AnotherProcessContinuesWhereTheFirstWasCut) {
  (void)make(exact(10'000));
  const auto survivor = direct_->open("a", access::write);
  counts exact_counts;
  std::uint64_t next = 0;
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 7 : 1) {
      // A new one each time: a connection that was cut earlier would be a failure of its own.
      const auto impatient = store_at(proxy_.url("/?retry_for=0s"));
      const opened_job dying(impatient->open("a", access::write));
      const auto events = counted(new_events(keys_, next, 5));
      // Its earlier requests are not to be cut.
      (void)claim(*dying, std::span(events).first(1), next);
      proxy_.cut_after(w, offset);
      const claimed died = claim(*dying, events, next);
      cut = proxy_.has_cut();
      if (!cut) proxy_.cut_after(w, SIZE_MAX);  // what is left of it would cut the next to open the job
      const claimed got = claim(*survivor->open_ledger("count", ""), events, next);
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(text_of(got.verdicts), "00000") << offset;
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_TRUE(died.verdicts[i] == verdict::unknown || died.verdicts[i] == got.verdicts[i]);
      for (const event& e : events) count_in(exact_counts, e);
      next += 5;
    }
  }
  EXPECT_EQ(counters_of(*survivor->open_ledger("count", "")), exact_counts);
}

TEST_F(Ledger, GrowthCutAnywhereLosesAndDoublesNothing) {
  (void)make(exact(4));
  const opened_job job(cut_->open("a", access::write));
  counts exact_counts;
  std::uint64_t next = 0;
  for (const direction w : {direction::to_server, direction::to_client})
    for (std::size_t offset = 0; offset < 4'000 && !HasFailure();
         offset += w == direction::to_server ? 173 : 41) {
      proxy_.cut_after(w, offset);
      const auto events = counted(new_events(keys_, next, 1 + std::min<std::size_t>(next / 4, 30)));
      const claimed got = claim(*job, events, next);
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(text_of(got.verdicts), std::string(events.size(), '0')) << offset;
      for (const event& e : events) count_in(exact_counts, e);
      next += events.size();
    }
  EXPECT_EQ(counters_of(*job)["0"], exact_counts["0"]);
}

/// Three calls; the filter grows within the second. The interrupted call is claimed again separately.
TEST_F(Ledger, ChainOfCallsCutAnywhereIsJudgedAndCountedOnce) {
  (void)make(exact(1'500));
  const opened_job job(cut_->open("a", access::write));
  std::uint64_t next = 0;
  std::vector<event> last = counted(new_events(keys_, 0, 1));
  for (const direction w : {direction::to_server, direction::to_client})
    for (std::size_t offset = 0; offset < (w == direction::to_server ? 2'000'000 : 4'000) && !HasFailure();
         offset += w == direction::to_server ? 97'001 : 301) {
      auto events = new_events(keys_, next, 2'500);
      std::string expected(2'500, '0');
      if (next > 0)
        for (std::size_t i = 3; i < 2'500; i += 7) {
          events[i].key = last[i].key;
          expected[i] = '1';
        }
      events = counted(events);
      proxy_.cut_after(w, offset);
      const claimed got = claim(*job, events, next);
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(text_of(got.verdicts), expected) << offset;
      next += 2'500;
      last = std::move(events);
    }
  const std::int64_t batches = static_cast<std::int64_t>(next) / 2'500;
  EXPECT_EQ(counters_of(*job)["0"], 2'500 * batches - 357 * (batches - 1));
}

TEST_F(Ledger, CheckpointCutAnywhereIsStored) {
  (void)make(exact(100));
  const opened_job job(cut_->open("a", access::write));
  std::uint64_t position = 0;  // checkpoints never go back
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); ++offset, ++position) {
      proxy_.cut_after(w, offset);
      job->settle(std::vector<checkpoint>{{"x", position, "note"}, {"y", position + 1}});
      cut = proxy_.has_cut();
      const auto reached = opened_job(direct_->open("a", access::read))->checkpoints();
      EXPECT_EQ(reached.at("x").position, position);
      EXPECT_EQ(reached.at("y").position, position + 1);
    }
  }
}

TEST_F(Ledger, ManyClaimersOfOneLaneCountEachEventOnce) {
  (void)make(exact(20'000, 3));
  const auto events = counted(new_events(keys_, 0, 3'000));
  std::atomic<int> wrong{0};
  const auto work = [&](std::uint64_t seed) {
    const auto own = store_at(server_.url());
    const opened_job job(own->open("a", access::write));
    test::random_digests dice(seed);
    for (std::size_t offset = 0; offset < events.size();) {
      const std::size_t n = std::min<std::size_t>(1 + dice.word() % 200, events.size() - offset);
      const claimed got = claim(*job, std::span(events).subspan(offset, n));
      if (!got.result || got.result->fresh != n) ++wrong;
      offset += n;
    }
  };
  std::vector<std::thread> all;
  for (std::uint64_t i = 0; i < 4; ++i) all.emplace_back(work, i);
  for (std::thread& each : all) each.join();
  EXPECT_EQ(wrong, 0);
  counts exact_counts;
  for (const event& e : events) count_in(exact_counts, e);
  EXPECT_EQ(counters_of(*opened_job(direct_->open("a", access::read))), exact_counts);
}

TEST_F(Ledger, ServerThatForgetsItsScriptsJudgesOnce) {
  const auto filter = make(exact(1'000));
  auto job = filter->open_ledger("count", "");
  for (std::uint64_t next = 0; next < 9; next += 3) {
    server_.run({"SCRIPT", "FLUSH"});
    EXPECT_EQ(text_of(claim(*job, counted(new_events(keys_, next, 3))).verdicts), "000");
  }
  EXPECT_EQ(counters_of(*job)["0"], 9);
}

/// With the module and without.
class LedgerAnywhere : public Ledger, public testing::WithParamInterface<bool> {
 protected:
  LedgerAnywhere() : Ledger(GetParam() ? test::with_module() : std::vector<std::string>{}) {}
};

INSTANTIATE_TEST_SUITE_P(Servers, LedgerAnywhere, testing::Bool(),
                         [](const auto& one) { return one.param ? "WithModule" : "Plain"; });

/// Two lanes. Their workers are cut off at any byte, or crash, and restart at the last checkpoints with other
/// batches. Every event must have the verdict, and every counter the value, of an exact set.
TEST_P(LedgerAnywhere, IsExactThroughAnyCutOrCrash) {
  (void)make(exact(300, 2));
  struct lane {
    std::vector<event> events{};
    std::string first{};  // verdicts
    std::uint64_t settled = 0, next = 0;
  };
  std::map<std::string, lane> lanes = {{"one", {}}, {"two", {}}};
  std::vector<digest> known;
  test::random_digests dice(GetParam() ? 8 : 9);
  for (auto& [name, l] : lanes) {
    l.events = new_events(keys_, 0, 5'000);
    for (event& e : l.events) {
      if (dice.word() % 3 == 0 && !known.empty()) e.key = known[dice.word() % known.size()];
      known.push_back(e.key);
    }
    l.events = counted(l.events);
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> exact_set;
  counts exact_counts;
  const auto impatient = store_at(proxy_.url("/?retry_for=1ms"));
  std::optional<opened_job> job;
  int deaths = 0, cuts = 0;
  for (; lanes["one"].next + lanes["two"].next < 10'000; ++deaths) {
    ASSERT_LT(deaths, 2'000);
    std::map<std::string, checkpoint, std::less<>> reached;
    try {
      job.emplace(impatient->open("a", access::write));
      reached = (*job)->checkpoints();
    } catch (const backend_error&) {
      continue;  // cut off at its start
    }
    for (auto& [name, l] : lanes) l.next = reached.contains(name) ? reached.at(name).position : 0;
    // Crashes between two claims, or between a claim and its settlement.
    for (bool alive = true; alive && dice.word() % 12 != 0;) {
      if (cuts == 0 || proxy_.has_cut()) {
        const direction w = dice.word() % 2 == 0 ? direction::to_server : direction::to_client;
        proxy_.cut_after(w, dice.word() % (w == direction::to_server ? 20'000 : 500));
        ++cuts;
      }
      auto& [name, l] = *std::next(lanes.begin(), static_cast<std::ptrdiff_t>(dice.word() % 2));
      const std::size_t n = std::min<std::size_t>(1 + dice.word() % 50, l.events.size() - l.next);
      if (n == 0 && lanes["one"].next + lanes["two"].next == 10'000) break;
      const auto some = std::span(l.events).subspan(l.next, n);
      const claimed got = claim_events(**job, spec_, {name, l.settled}, some);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t offset = l.next + i;
        // The interrupted events may have been judged: they are the first in their lane, and no other worker
        // claimed in between.
        if (offset == l.first.size()) {
          const bool is_new = exact_set.insert({some[i].key.low, some[i].key.high}).second;
          l.first += is_new ? '0' : '1';
          if (is_new) count_in(exact_counts, some[i]);
        }
        if (got.verdicts[i] == verdict::unknown) continue;
        ASSERT_EQ(text_of({got.verdicts[i]}), std::string(1, l.first[offset])) << name << ' ' << offset;
      }
      alive = got.result.has_value();
      if (!alive) {
        // No other worker claims before these are claimed again, so that the exact set knows their order.
        const opened_job survivor(direct_->open("a", access::write));
        ASSERT_TRUE(claim_events(*survivor, spec_, {name, l.settled}, some).result);
        break;
      }
      l.next += n;
      if (dice.word() % 4 != 0) continue;
      try {
        (*job)->settle(std::vector<checkpoint>{{name, l.next}});
        l.settled = l.next;
      } catch (const backend_error&) {
        alive = false;
      }
    }
  }
  EXPECT_GT(deaths, 30);
  EXPECT_GT(cuts, 30);
  EXPECT_EQ(counters_of(*opened_job(direct_->open("a", access::read))), exact_counts);
}

class LedgerWithAof : public Ledger {
 protected:
  LedgerWithAof() : Ledger({"--appendonly", "yes", "--appendfsync", "always"}) {}
};

TEST_F(LedgerWithAof, KilledServerRestartsWithVerdictsCountsAndCheckpoints) {
  const auto filter = make(exact(1'000));
  const auto job = filter->open_ledger("count", "clicks");
  auto events = counted(new_events(keys_, 0, 50));
  events[20].key = events[10].key;
  const std::string first = text_of(claim(*job, events).verdicts);
  job->settle(std::vector<checkpoint>{{"clicks/0", 4, "n"}});
  const counts before = counters_of(*job);
  server_.kill();
  server_.start();
  const opened_job again(store_at(server_.url())->open("a", access::write));
  EXPECT_EQ(text_of(claim(*again, events, 0).verdicts), first);
  EXPECT_EQ(counters_of(*again), before);
  EXPECT_EQ(again->checkpoints().at("clicks/0").note, "n");
  EXPECT_EQ(again->description(), "clicks");
}

/// A server that starts again returns fields in another order: from the cursor of an earlier process it skips
/// some.
TEST_F(LedgerWithAof, NoCounterIsMissingWhereTheServerRestartsWhileTheyAreRead) {
  constexpr std::size_t several_pages = 5'000;
  const auto filter = make(exact(10'000));
  auto events = new_events(keys_, 0, several_pages);
  for (event& e : events) e.counters = {"user" + std::to_string(e.position)};
  ASSERT_TRUE(claim(*filter->open_ledger("count", ""), events).result);
  const opened_job reader(cut_->open("a", access::read));
  const auto in_spite_of_a_restart = [&](auto read) {
    constexpr std::size_t more_than_a_page = 40'000;
    proxy_.hold_after(direction::to_client, more_than_a_page);
    auto got = std::async(std::launch::async, read);
    test::wait_until([&] { return proxy_.holds(); }, "a page is there");
    server_.kill();
    server_.start();
    proxy_.cut_after(direction::to_client, 0);
    proxy_.release();
    return got.get();
  };
  EXPECT_EQ(in_spite_of_a_restart([&] { return counters_of(*reader).size(); }), several_pages);
  EXPECT_EQ(in_spite_of_a_restart([&] { return reader->size().counters; }), several_pages);
}

TEST_F(Ledger, DropLeavesNoKey) {
  const auto filter = make(exact(1'000, 3));
  for (const char* name : {"count", "audit"}) {
    auto job = filter->open_ledger(name, "");
    (void)claim(*job, counted(new_events(keys_, 0, 60)));
    job->settle(std::vector<checkpoint>{{"clicks/0", 60}});
  }
  EXPECT_THAT(all_records(), testing::SizeIs(2 * 3));
  EXPECT_THAT(all_checkpoints(), testing::SizeIs(2));
  direct_->drop("a");
  EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
}

// A claim whose answer is lost may be resent at any time, whatever the server's clock does.
TEST_F(Ledger, NoKeyOfAJobExpiresByAClock) {
  const auto filter = make(exact(1'000));
  const auto job = filter->open_ledger("count", "");
  ASSERT_TRUE(claim(*job, counted(new_events(keys_, 0, 5))).result);
  job->settle(std::vector<checkpoint>{{"clicks/0", 3}});
  const auto all = lasting_keys_like(server_, "*");
  EXPECT_GE(all.size(), 7u);
  for (const std::string& key : all) EXPECT_EQ(server_.run({"PTTL", key}), "-1") << key;
}

TEST_F(Ledger, KeysOfAJobEndWithItsFilter) {
  spec_ = exact(1'000, 2);
  const auto filter = direct_->create("a", spec_, std::chrono::hours(1));
  auto job = filter->open_ledger("count", "");
  (void)claim(*job, counted(new_events(keys_, 0, 60)));
  job->settle(std::vector<checkpoint>{{"clicks/0", 60}});
  let_expire(server_, "a");
  direct_->remove_expired();
  EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
}

TEST_F(Ledger, ClaimAfterADropIsAnErrorAndLeavesNothing) {
  const auto filter = make(exact(1'000));
  auto job = filter->open_ledger("count", "");
  (void)claim(*job, new_events(keys_, 0, 3));
  direct_->drop("a");
  const claimed got = claim(*job, new_events(keys_, 3, 3));
  ASSERT_FALSE(got.result);
  EXPECT_EQ(text_of(got.verdicts), "333");
  EXPECT_THAT(got.result.error().message, HasSubstr("is gone: it was dropped"));
  EXPECT_THAT(message_of<storage_error>([&] {
                job->settle(std::vector<checkpoint>{{"x", 1}});
              }),
              HasSubstr("dropped"));
  EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
}

TEST_F(Ledger, DamagedKeysAreNamedAndNothingIsAddedThroughThem) {
  const auto filter = make(exact(1'000));
  auto job = filter->open_ledger("count", "");
  (void)claim(*job, counted(new_events(keys_, 0, 5)));
  const std::string records = this->records();
  const auto failure = [&] {
    try {
      const claimed got = claim(*filter->open_ledger("count", ""), counted(new_events(keys_, 50, 2)));
      return got.result ? std::string("none") : got.result.error().message;
    } catch (const format_error& e) {
      return std::string(e.what());
    }
  };
  server_.run({"HSET", records, "clicks/0", "123"});
  EXPECT_THAT(failure(), HasSubstr("record of a lane is damaged"));
  server_.run({"HSET", records, "clicks/0", std::string(8, '\0') + std::string(8, '\x01')});
  EXPECT_THAT(failure(), HasSubstr("do not ascend"));
  server_.run({"SET", records, "x"});
  EXPECT_THAT(failure(), HasSubstr(records));
  server_.run({"DEL", records});
  EXPECT_EQ(filter->state(0).keys(), 5u);
  server_.run({"HSET", records, partition_keys::counter_field("0"), "many"});
  EXPECT_EQ(failure(), "none");
  EXPECT_THAT(message_of<format_error>([&] { (void)counters_of(*job); }), HasSubstr("no number"));
}

// Promise: a running job notices that its server lost data (streams, Crashes of servers and machines).
TEST_F(Ledger, ServerThatLostAcknowledgedDataIsDetected) {
  const auto filter = make(exact(1'000));
  const auto job = filter->open_ledger("count", "");
  ASSERT_TRUE(claim(*job, counted(new_events(keys_, 0, 5))).result);
  // As after a restart with an older snapshot: keys, counters and the record are rolled back together.
  lane_record older;
  older.note(2, false);
  server_.run({"HSET", records(), "clicks/0", older.encode()});
  const claimed got = claim(*job, counted(new_events(keys_, 5, 5)));
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::format);
  EXPECT_THAT(got.result.error().message, HasSubstr("has forgotten events of 'clicks/0'"));
}

// Promise: a worker of a job that was ended can neither claim nor settle, and leaves nothing behind (streams,
// The life of a job).
TEST_F(Ledger, WorkersOfAnEndedJobGetAnErrorAndLeaveNothing) {
  const auto filter = make(exact(1'000, 2));
  const auto at_work = filter->open_ledger("count", "");
  const auto idle = filter->open_ledger("count", "");
  const auto events = counted(new_events(keys_, 0, 60));
  ASSERT_TRUE(claim(*at_work, std::span(events).first(40)).result);
  EXPECT_GE(at_work->size().counters, 4u);
  EXPECT_GT(at_work->size().bytes.value_or(0), 0u);
  direct_->end_job("a", "count");
  for (const auto& job : {at_work.get(), idle.get()}) {
    const claimed got = claim(*job, std::span(events).subspan(40));
    ASSERT_FALSE(got.result);
    EXPECT_EQ(got.result.error().why, batch_failure::cause::storage);
    EXPECT_THAT(got.result.error().message, HasSubstr("was ended"));
    EXPECT_THROW(job->settle(std::vector<checkpoint>{{"clicks/0", 40, ""}}), storage_error);
  }
  EXPECT_THAT(all_records(), IsEmpty());
  EXPECT_EQ(server_.run({"EXISTS", list()}), "0");
}

// Promise: a worker of a job that was ended can neither claim nor settle, and leaves nothing behind (streams,
// The life of a job).
TEST_F(Ledger, WorkersOfAnEndedJobDoNotWorkOnTheNextOfItsName) {
  const auto filter = make(exact(1'000, 2));
  const auto at_work = filter->open_ledger("count", "d");
  const auto idle = filter->open_ledger("count", "d");
  const auto events = counted(new_events(keys_, 0, 60));
  ASSERT_TRUE(claim(*at_work, std::span(events).first(40)).result);
  direct_->end_job("a", "count");
  const auto next = filter->open_ledger("count", "d");
  EXPECT_EQ(next->description(), "d");
  const auto expect_worker_refused = [&](ledger& job) {
    const claimed got = claim(job, std::span(events).subspan(40));
    ASSERT_FALSE(got.result);
    EXPECT_THAT(got.result.error().message, HasSubstr("was ended"));
    EXPECT_THROW(job.settle(std::vector<checkpoint>{{"clicks/0", 60, ""}}), storage_error);
  };
  expect_worker_refused(*at_work);
  expect_worker_refused(*idle);
  // Also when the next job has records.
  ASSERT_TRUE(claim(*next, counted(new_events(keys_, 0, 50))).result);
  expect_worker_refused(*at_work);
  expect_worker_refused(*idle);
  EXPECT_TRUE(next->checkpoints().empty());
  EXPECT_EQ(counters_of(*next)["0"], 50);
}

TEST_F(Ledger, InterruptedEndIsFinishedByTheNext) {
  const auto filter = make(exact(1'000));
  ASSERT_TRUE(claim(*filter->open_ledger("count", "d"), counted(new_events(keys_, 0, 5))).result);
  begin_end_of_job(server_, "a", "count");
  EXPECT_THAT(direct_->jobs("a"), IsEmpty());
  const auto next = filter->open_ledger("count", "other");
  EXPECT_EQ(next->description(), "other");
  EXPECT_TRUE(counters_of(*next).empty());
  EXPECT_THAT(all_records(), testing::SizeIs(2)) << "of both";
  direct_->end_job("a", "count");
  EXPECT_THAT(all_records(), IsEmpty());
}

/// Does something else once, while a server is unavailable.
class busy_policy final : public retry_policy {
 public:
  explicit busy_policy(std::function<void()> meanwhile) : meanwhile_(std::move(meanwhile)) {}
  bool tries_again(const outage& /*now*/) override {
    if (const auto todo = std::exchange(meanwhile_, {})) todo();
    return true;
  }
  void on_recovered() override {}

 private:
  std::function<void()> meanwhile_;
};

TEST_F(Ledger, SlowerOfTwoThatEndAJobLeavesTheNextOfItsNameAlone) {
  const auto filter = make(exact(20'000, 2));
  std::uint64_t position = 0;
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 197 : 31) {
      const auto last = filter->open_ledger("count", "d");
      ASSERT_TRUE(claim(*last, counted(new_events(keys_, position, 5)), position).result);
      position += 5;
      (void)cut_->jobs("a");  // its connection and first look-ups are not to be cut
      std::unique_ptr<ledger> next;
      cut_->wait_with(std::make_shared<busy_policy>([&] {
        if (is_listed("count")) return;  // the end has not begun, and would affect the next job
        if (!direct_->jobs("a").empty()) direct_->end_job("a", "count");
        next = filter->open_ledger("count", "d");
        ASSERT_TRUE(claim(*next, counted(new_events(keys_, position, 20)), position).result);
        next->settle(std::vector<checkpoint>{{"clicks/0", position + 20, ""}});
      }));
      proxy_.cut_after(w, offset);
      cut_->end_job("a", "count");
      cut = proxy_.has_cut();
      cut_->wait_with(nullptr);
      if (!next) continue;
      EXPECT_EQ(counters_of(*next)["0"], 20) << offset;
      EXPECT_EQ(next->checkpoints().size(), 1u) << offset;
      position += 20;
      EXPECT_TRUE(claim(*next, counted(new_events(keys_, position, 5)), position).result) << offset;
      position += 5;
      direct_->end_job("a", "count");
    }
  }
}

TEST_F(Ledger, JobEndedByTwoConcurrentlyIsGone) {
  const auto filter = make(exact(1'000));
  std::size_t beside = 0;
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 97 : 7) {
      ASSERT_TRUE(claim(*filter->open_ledger("count", "d"), counted(new_events(keys_, 0, 5))).result);
      (void)cut_->jobs("a");
      cut_->wait_with(std::make_shared<busy_policy>([&] {
        if (direct_->jobs("a").empty()) return;
        direct_->end_job("a", "count");
        ++beside;
      }));
      proxy_.cut_after(w, offset);
      const std::string message = message_of<parameter_error>([&] { cut_->end_job("a", "count"); });
      cut = proxy_.has_cut();
      cut_->wait_with(nullptr);
      if (!message.empty()) {
        EXPECT_THAT(message, HasSubstr("has no job named 'count'")) << offset;
      }
      EXPECT_THAT(direct_->jobs("a"), IsEmpty()) << offset;
      EXPECT_THAT(all_records(), IsEmpty()) << offset;
      EXPECT_THAT(all_checkpoints(), IsEmpty()) << offset;
    }
  }
  EXPECT_GT(beside, 5u);
}

TEST_F(Ledger, JobEndedDuringALookUpDoesNotComeBack) {
  const auto filter = make(exact(1'000));
  const auto looking = cut_->open("a", access::write);
  std::size_t beside = 0;
  for (const direction w : {direction::to_server, direction::to_client}) {
    bool cut = true;
    for (std::size_t offset = 0; cut && !HasFailure(); offset += w == direction::to_server ? 23 : 7) {
      ASSERT_TRUE(claim(*filter->open_ledger("count", "d"), counted(new_events(keys_, 0, 5))).result);
      bool has_ended = false;
      cut_->wait_with(std::make_shared<busy_policy>([&] {
        if (std::exchange(has_ended, true)) return;
        direct_->end_job("a", "count");
        ++beside;
      }));
      proxy_.cut_after(w, offset);
      try {
        (void)looking->open_ledger("count", std::nullopt);
      } catch (const storage_error&) {
        // it has ended
      }
      cut = proxy_.has_cut();
      cut_->wait_with(nullptr);
      if (!has_ended) direct_->end_job("a", "count");
      EXPECT_THAT(direct_->jobs("a"), IsEmpty()) << offset;
      EXPECT_THAT(all_records(), IsEmpty()) << offset;
    }
  }
  EXPECT_GT(beside, 5u);
}

TEST_F(Ledger, ReaderReadsAJobAndCannotClaim) {
  const auto reader = [&] { return store_at(server_.url())->open("a", access::read); };
  const auto filter = make(exact(1'000));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)reader()->open_ledger("count", ""); }),
              HasSubstr("has no job named 'count'"));
  EXPECT_THAT(direct_->jobs("a"), IsEmpty());
  (void)claim(*filter->open_ledger("count", "d"), counted(new_events(keys_, 0, 5)));
  const opened_job job(reader());
  EXPECT_EQ(job->description(), "d");
  EXPECT_EQ(counters_of(*job)["0"], 5);
  EXPECT_FALSE(claim(*job, new_events(keys_, 5, 1)).result);
}

TEST_F(Ledger, WithoutScriptsThereAreNoJobs) {
  const redis_server forbids(test::with_module());
  const auto filter = store_at(forbids.url())->create("a", exact(100));
  forbids.run({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
  EXPECT_THAT(message_of<backend_error>([&] { (void)filter->open_ledger("count", ""); }),
              HasSubstr("forbids scripts"));
}

TEST_F(Ledger, FilterDuringARebuildGetsNoJob) {
  const auto filter = make(exact(100));
  {
    const auto rebuild = direct_->begin_rebuild("a", exact(200), {});
    EXPECT_THAT(message_of<parameter_error>([&] { (void)filter->open_ledger("count", ""); }),
                HasSubstr("is being rebuilt"));
    rebuild->commit();
  }
  EXPECT_THAT(message_of<storage_error>([&] { (void)filter->open_ledger("count", ""); }),
              HasSubstr("open it again"));
  const opened_job job(direct_->open("a", access::write));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)direct_->begin_rebuild("a", exact(200), {}); }),
              HasSubstr("has jobs (count) and cannot be rebuilt"));
}

TEST_F(Ledger, FullServerRefusesAClaimAsAWhole) {
  const auto filter = make(exact(1'000));
  auto job = filter->open_ledger("count", "");
  const auto events = counted(new_events(keys_, 0, 20));
  (void)claim(*job, std::span(events).first(5));
  server_.run({"CONFIG", "SET", "maxmemory", "1"});
  const claimed got = claim(*job, std::span(events).subspan(5));
  ASSERT_FALSE(got.result);
  EXPECT_EQ(text_of(got.verdicts), std::string(15, '3'));
  server_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(text_of(claim(*job, events).verdicts), std::string(20, '0'));
  EXPECT_EQ(counters_of(*job)["0"], 20);
}

}  // namespace
}  // namespace everseen::redis
