// EVERSEEN.CLAIM: equivalence with scripts, on the same keys; replication; invalid input.

#include <map>
#include <optional>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/redis/keyspace/job_keys.hpp"

#include "test/module/module_server.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/opened_job.hpp"

namespace everseen::redis_module {
namespace {

using test::claim_events;
using test::claimed;
using test::counters_of;
using test::event;
using test::new_events;
using test::opened_job;
using test::random_digests;
using test::text_of;
using ::testing::StartsWith;

using counts = std::map<std::string, std::int64_t>;

std::shared_ptr<stored_filter> open_at(const redis_server& server, const std::string& options) {
  return redis::redis_store(redis::parse_redis_url(server.unix_url(options))).open("f", access::write);
}

std::vector<event> counted(std::vector<event> events) {
  for (event& e : events) e.counters = {"0", "1\tsite" + std::to_string(e.key.low % 5)};
  return events;
}

class Claim : public testing::Test {
 protected:
  explicit Claim(std::vector<std::string> config = {}) : server_(joined(test::with_module(), config)) {}

  /// A job whose claims the module judges, or scripts.
  std::unique_ptr<ledger> begin(spec_request request) {
    request.error_rate = 1e-12;
    filter_ = filter_at(server_, "f", request);
    return filter_->open_ledger("count", "");
  }
  claimed claim(ledger& by, std::span<const event> events, std::uint64_t settled = 0) {
    return claim_events(by, filter_->get_spec(), {"lane", settled}, events);
  }

  redis_server server_;
  random_digests keys_{11};
  std::shared_ptr<stored_filter> filter_;
};

TEST_F(Claim, ByTheModuleAndByScriptsAreTheSameJob) {
  const auto by_module = begin({.capacity = 500, .partitions = 2});
  const auto other = open_at(server_, "?commands=script");
  const auto by_scripts = other->open_ledger("count", "");
  std::vector<digest> known;
  counts exact;
  std::mt19937 chance(5);
  for (std::uint64_t next = 0, settled = 0; next < 6'000;) {
    auto events = new_events(keys_, next, 1 + chance() % 300);
    for (event& e : events)
      if (chance() % 4 == 0 && !known.empty()) e.key = known[chance() % known.size()];
    events = counted(events);
    ledger& by = chance() % 2 == 0 ? *by_module : *by_scripts;
    const claimed got = claim(by, events, settled);
    ASSERT_TRUE(got.result) << got.result.error().message;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool is_new = std::ranges::find(known, events[i].key) == known.end();
      ASSERT_EQ(got.verdicts[i], is_new ? verdict::fresh : verdict::seen) << next + i;
      if (is_new) known.push_back(events[i].key);
      for (const std::string& name : events[i].counters) exact[name] += is_new;
    }
    ledger& replayer = chance() % 2 == 0 ? *by_module : *by_scripts;
    ASSERT_EQ(text_of(claim(replayer, events, settled).verdicts), text_of(got.verdicts));
    next += events.size();
    if (chance() % 3 == 0) settled = next;
  }
  EXPECT_EQ(counters_of(*by_module), exact);
  EXPECT_EQ(counters_of(*by_scripts), exact);
}

TEST_F(Claim, InAWindowLateEventsAreLateAndReplaysAreNot) {
  const auto job =
      begin({.capacity = 2'000, .window = window_spec{std::chrono::minutes(10), 5}, .partitions = 1});
  auto events = new_events(keys_, 0, 60);
  for (std::size_t i = 0; i < 60; ++i)
    events[i].time = event_time(std::chrono::minutes(i < 50 ? 100 + i / 10 : 20));
  const std::string expected = std::string(50, '0') + std::string(10, '2');
  EXPECT_EQ(text_of(claim(*job, events).verdicts), expected);
  EXPECT_EQ(text_of(claim(*job, events).verdicts), expected);
  const opened_job by_scripts(open_at(server_, "?commands=script"));
  EXPECT_EQ(text_of(claim(*by_scripts, events).verdicts), expected);
}

/// Clicks that are late, early, repeated, and in no order of their times.
std::vector<event> shuffled_in_time(std::mt19937& chance, std::vector<event> events,
                                    std::vector<digest>& known) {
  for (event& e : events) {
    const auto minute = static_cast<std::int64_t>(e.position / 50);
    const std::int64_t back = chance() % 30 == 0 ? 200 : chance() % 12;
    e.time = event_time(std::chrono::minutes(300 + minute - back));
    if (chance() % 4 == 0 && !known.empty()) e.key = known[chance() % known.size()];
    known.push_back(e.key);
  }
  return counted(std::move(events));
}

/// The verdicts of an exact window, event by event.
class exact_window {
 public:
  explicit exact_window(const spec& s) : spec_(s), partitions_(s.partitions) {}

  std::string judge(const std::vector<event>& events) {
    std::string verdicts;
    for (const event& e : events) verdicts += judge(e, partitions_[partition_of(e.key, spec_.partitions)]);
    return verdicts;
  }

 private:
  struct memory {
    std::optional<window::slice_index> newest{};
    std::map<std::pair<std::uint64_t, std::uint64_t>, window::slice_index> added{};
  };

  [[nodiscard]] char judge(const event& e, memory& in) const {
    const auto slice = window::slice_at(*spec_.window, e.time);
    in.newest = std::max(in.newest.value_or(slice), slice);
    const auto oldest = window::oldest_live(*spec_.window, *in.newest);
    if (slice < oldest) return '2';
    const auto [at, is_new] = in.added.try_emplace({e.key.low, e.key.high}, slice);
    if (!is_new && at->second >= oldest) return '1';
    at->second = slice;
    return '0';
  }

  const spec spec_;
  std::vector<memory> partitions_;
};

TEST_F(Claim, OfMixedTimesAreExactByTheModuleAndByScripts) {
  for (const growth_kind growth : {growth_kind::grow, growth_kind::overfill}) {
    filter_ = nullptr;
    server_.run({"FLUSHALL"});
    const auto by_module = begin({.capacity = 400,
                                  .growth = growth,
                                  .window = window_spec{std::chrono::minutes(10), 5},
                                  .partitions = 2});
    const opened_job by_scripts(open_at(server_, "?commands=script"));
    exact_window exact(filter_->get_spec());
    std::vector<digest> known;
    std::mt19937 chance(6);
    counts expected;
    for (std::uint64_t next = 0, settled = 0; next < 20'000;) {
      const auto events = shuffled_in_time(chance, new_events(keys_, next, 1 + chance() % 2'500), known);
      ledger& by = chance() % 2 == 0 ? *by_module : *by_scripts;
      const claimed got = claim(by, events, settled);
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(text_of(got.verdicts), exact.judge(events)) << next;
      for (std::size_t i = 0; i < events.size(); ++i)
        for (const std::string& name : events[i].counters)
          expected[name] += got.verdicts[i] == verdict::fresh;
      next += events.size();
      if (chance() % 3 == 0) settled = next;
    }
    EXPECT_EQ(counters_of(*by_module), expected);
  }
}

TEST_F(Claim, OfEventsWhoseSlicesAlternateIsOneCall) {
  const auto job =
      begin({.capacity = 5'000, .window = window_spec{std::chrono::minutes(10), 5}, .partitions = 1});
  auto events = new_events(keys_, 0, 3'000);
  for (event& e : events) e.time = event_time(std::chrono::minutes(100 + e.position % 10));
  // The first creates the slices, the second meets the client's outdated view.
  for (const std::size_t from : {0, 10}) ASSERT_TRUE(claim(*job, std::span(events).subspan(from, 10)).result);
  server_.run({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(claim(*job, std::span(events).subspan(20, 980)).result);
  EXPECT_EQ(calls_of(server_, "everseen.claim"), "1");
  const opened_job by_scripts(open_at(server_, "?commands=script"));
  ASSERT_TRUE(claim(*by_scripts, std::span(events).subspan(1'000, 1'000)).result);
  server_.run({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(claim(*by_scripts, std::span(events).subspan(2'000)).result->fresh, 1'000U);
  EXPECT_EQ(calls_of(server_, "evalsha"), "1");
}

TEST_F(Claim, FullFilterStopsBeforeTheFirstEventWithoutRoom) {
  const auto job = begin({.capacity = 10, .growth = growth_kind::refuse, .partitions = 1});
  auto events = counted(new_events(keys_, 0, 60));
  events[59].key = events[0].key;
  const claimed got = claim(*job, events);
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::full);
  const std::string verdicts = text_of(got.verdicts);
  const auto room = static_cast<std::int64_t>(verdicts.find('3'));
  EXPECT_EQ(verdicts.find_first_not_of('3', static_cast<std::size_t>(room)), std::string::npos);
  EXPECT_EQ(counters_of(*job)["0"], room);
  EXPECT_EQ(text_of(claim(*job, events).verdicts), verdicts);
}

class ClaimWithAof : public Claim {
 protected:
  ClaimWithAof() : Claim({"--appendonly", "yes", "--appendfsync", "always"}) {}
};

TEST_F(ClaimWithAof, KilledServerRestartsWithAllOfIt) {
  auto job = begin({.capacity = 300, .partitions = 2});
  const auto events = counted(new_events(keys_, 0, 2'000));
  ASSERT_TRUE(claim(*job, std::span(events).first(1'000)).result);
  ASSERT_TRUE(claim(*job, std::span(events).subspan(1'000), 500).result);
  const counts before = counters_of(*job);
  const std::string all = content(server_);
  server_.kill();
  server_.start();
  EXPECT_EQ(content(server_), all);
  job = filter_->open_ledger("count", "");
  EXPECT_EQ(text_of(claim(*job, std::span(events).subspan(500), 500).verdicts), std::string(1'500, '0'));
  EXPECT_EQ(counters_of(*job), before);
  EXPECT_EQ(before.at("0"), 2'000);
}

TEST_F(Claim, ReplicaWithoutTheModuleHasAllOfIt) {
  const redis_server replica;
  replica.run({"REPLICAOF", "127.0.0.1", std::to_string(server_.port())});
  test::wait_until(
      [&] {
        return replica.run({"INFO", "replication"}).find("link_status:up") != std::string::npos;
      },
      "the replica is in step");
  const auto job = begin({.capacity = 300, .partitions = 2});
  ASSERT_TRUE(claim(*job, counted(new_events(keys_, 0, 1'500))).result);
  test::wait_until([&] { return content(replica) == content(server_); }, "the replica has the same content");
}

class BadClaim : public Claim {
 protected:
  BadClaim() {
    const auto job = begin({.capacity = 1000, .partitions = 1});
    (void)claim(*job, new_events(keys_, 0, 20));
    const redis::filter_keys keys = keys_of(server_, "f");
    state_ = keys.state(0);
    job_ = run({"HGET", redis::job_keys::list(keys), "count"}).substr(0, 32);
    epoch_ = run({"HGET", state_, "epoch"});
    before_ = content(server_);
  }
  std::string run(const std::vector<std::string>& words) const {
    return test::raw_command(server_.unix_path(), words);
  }
  static std::string positions(std::uint64_t first, std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) append_position(bytes, first + i);
    return bytes;
  }
  static std::string packed(std::size_t keys) {
    const auto digests = random_digests(99).take(keys);
    return {reinterpret_cast<const char*>(digests.data()), keys * sizeof(digest)};
  }
  [[nodiscard]] std::string records() const { return state_ + ":l" + job_; }
  [[nodiscard]] std::vector<std::string> right() const {
    return {"EVERSEEN.CLAIM",
            state_,
            records(),
            job_,
            "lane",
            positions(19, 1),
            "8",
            epoch_,
            "0",
            packed(2),
            "",
            positions(20, 2),
            "1",
            std::string("\0\0\0\1\0\0\0\0", 8),
            "a",
            "b"};
  }

  std::string state_, job_, epoch_, before_;
};

TEST_F(BadClaim, ValidClaimIsAcceptedOnce) {
  EXPECT_EQ(run(right()), "00");
  EXPECT_EQ(run(right()), "P");
  EXPECT_EQ(run({"HGET", records(), std::string("\0b", 2)}), "1");
  EXPECT_EQ(run({"HSTRLEN", records(), "lane"}), std::to_string(8 * (1 + 20 + 2)));
}

TEST_F(BadClaim, OfAnEndedJobIsRefused) {
  redis::redis_store(redis::parse_redis_url(server_.unix_url("?commands=module"))).end_job("f", "count");
  before_ = content(server_);
  EXPECT_EQ(run(right()), "J");
  auto words = right();
  words[5] = "";  // as if there were no record
  words[6] = "0";
  EXPECT_EQ(run(words), "J");
  EXPECT_EQ(content(server_), before_);
}

TEST_F(BadClaim, InvalidWordsAreRefused) {
  const auto with = [&](std::size_t at, std::string word) {
    auto words = right();
    words[at] = std::move(word);
    return run(words);
  };
  for (const std::size_t at : {6, 7, 8, 12})
    for (const char* word : {"", "x", "-", "99999999999999999999"})
      EXPECT_THAT(with(at, word), StartsWith("-ERR"));
  EXPECT_THAT(with(2, state_ + ":lother"), StartsWith("-ERR the records"));
  EXPECT_THAT(with(5, "1234567"), StartsWith("-ERR a head"));
  EXPECT_EQ(with(5, ""), "P");
  EXPECT_EQ(with(5, positions(18, 1)), "P");
  for (const char* bytes : {"0", "7", "12", "176"})
    EXPECT_THAT(with(6, bytes), StartsWith("-ERR the forgotten"));
  EXPECT_EQ(with(7, "77"), "S");
  EXPECT_THAT(with(9, packed(2).substr(1)), StartsWith("-ERR digests"));
  for (const std::string& offsets : {std::string(1, '\0'), std::string(3, '\0'), positions(20, 2)})
    EXPECT_THAT(with(10, offsets), StartsWith("-ERR offsets are a byte"));
  EXPECT_THAT(with(10, std::string("\0\1", 2)), StartsWith("-ERR the filter has no window"));
  EXPECT_THAT(with(11, positions(20, 1)), StartsWith("-ERR positions are"));
  EXPECT_THAT(with(11, positions(20, 1) + positions(20, 1)), StartsWith("-ERR positions do not"));
  EXPECT_THAT(with(11, positions(19, 2)), StartsWith("-ERR positions do not"));
  EXPECT_THAT(with(12, "2"), StartsWith("-ERR places"));
  EXPECT_THAT(with(12, "18446744073709551615"), StartsWith("-ERR places"));
  EXPECT_THAT(with(13, std::string("\0\0\0\2\0\0\0\0", 8)), StartsWith("-ERR a place"));
  for (std::size_t words = 1; words < 14; ++words) {
    auto cut = right();
    cut.resize(words);
    EXPECT_THAT(run(cut), StartsWith("-ERR wrong number")) << words;
  }
  EXPECT_EQ(content(server_), before_);
}

TEST_F(BadClaim, RandomInputNeverEndsTheServerOrChangesTheLane) {
  std::mt19937_64 random(4);
  const std::vector<std::string> words = {state_,
                                          records(),
                                          job_,
                                          "",
                                          "0",
                                          "8",
                                          "-1",
                                          "9223372036854775807",
                                          positions(19, 1),
                                          packed(2),
                                          "lane",
                                          std::string(300, '\xff')};
  for (int i = 0; i < 20'000; ++i) {
    auto command = right();
    // An invalid head; otherwise one of the claims would be valid.
    command[5] = positions(random() % 19, 1);
    for (std::size_t changes = random() % 4; changes > 0; --changes)
      command[1 + random() % (command.size() - 1)] = words[random() % words.size()];
    if (command[5] == positions(19, 1)) continue;
    (void)run(command);
  }
  EXPECT_EQ(run({"PING"}), "PONG");
  EXPECT_EQ(run({"HSTRLEN", records(), "lane"}), std::to_string(8 * 21));
}

}  // namespace
}  // namespace everseen::redis_module
