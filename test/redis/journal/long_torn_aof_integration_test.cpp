// A server is killed twice while it writes its AOF and its clients add records so long that each is in a
// chunk of its own.

#include <functional>

#include <gtest/gtest.h>

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::claim_events;
using test::event;
using test::random_digests;
using test::text_of;
using test::torn_aof;

/// The number of keys added before the server was killed, and after that, before it is killed again.
struct sizes {
  const char* name;
  std::size_t before;
  std::size_t torn;
  std::vector<std::size_t> later;
};

void PrintTo(const sizes& s, std::ostream* out) {
  *out << s.name;
}

class TornLongRecord : public JudgedByClients, public testing::WithParamInterface<sizes> {
 protected:
  TornLongRecord() : JudgedByClients(test::with_aof()) {}

  random_digests random_{97};
};

INSTANTIATE_TEST_SUITE_P(Sizes, TornLongRecord,
                         testing::Values(sizes{"LongInAnEmptyOneThenShort", 0, many, {5}},
                                         sizes{"LongThenNothing", 5, many, {}},
                                         sizes{"LongThenShort", 5, many, {5}},
                                         sizes{"LongThenLong", 5, many, {many + 9}},
                                         sizes{"LongBehindLongThenShort", many, many, {5, 6}},
                                         sizes{"LongBehindLongThenLongs", many, many, {many + 9, 5, many}},
                                         sizes{"ShortThenLong", 5, 100, {many}},
                                         sizes{"ShortThenShortThenLong", 5, 100, {3, many, 4}},
                                         sizes{"ShortBehindLongThenLong", many, 100, {many, 4}},
                                         sizes{"ShortInAnEmptyOneThenLong", 0, 100, {many}}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(TornLongRecord, IsStoredOrFreshAgainAndOthersFollow) {
  const auto filter = make({.capacity = 100'000, .error_rate = 1e-12, .partitions = 1});
  const auto first = random_.take(GetParam().before);
  const auto torn = random_.take(GetParam().torn);
  std::vector<digest> all = first;
  all.insert(all.end(), torn.begin(), torn.end());
  answered(add_keys(*filter, first));
  torn_aof file(server_);
  const std::size_t from = file.bytes().size();
  answered(add_keys(*filter, torn));
  const std::string bytes = file.bytes();
  const auto cuts = torn_aof::cuts(bytes, from);
  ASSERT_GE(cuts.size(), 8u);
  for (const std::size_t cut : cuts) {
    SCOPED_TRACE("cut " + std::to_string(cut - from) + " bytes behind " + std::to_string(from));
    file.end_with(bytes, cut);
    std::vector<digest> known = first;
    for (const std::size_t n : GetParam().later) {
      const auto some = random_.take(n);
      ASSERT_EQ(fresh_in(add_keys(*client(), some)), n);
      known.insert(known.end(), some.begin(), some.end());
    }
    file.crash();
    ASSERT_EQ(fresh_in(check_keys(*client(), known)), 0u);
    const auto again = add_keys(*client(), torn);
    ASSERT_EQ(fresh_in(again) % torn.size(), 0u) << fresh_in(again);
    const auto newcomer = client();
    ASSERT_EQ(fresh_in(check_keys(*newcomer, torn)), 0u);
    ASSERT_EQ(test::keys_in(*newcomer), known.size() + torn.size());
    // No chunk expires; everything that is still staged does.
    for (const std::string& key : keys_like(server_, "everseen:{*/0}:j*")) {
      const auto number = std::stoull(key.substr(key.rfind('j') + 1));
      if (number > parse_journal_position(field("end"))->offset / journal_chunk_bytes) continue;
      ASSERT_EQ(server_.run({"TTL", key}), "-1") << key;
    }
    for (const std::string& key : keys_like(server_, "everseen:{*/0}:s*"))
      ASSERT_NE(server_.run({"TTL", key}), "-1") << key;
  }
}

class TornLongClaim : public JudgedByClients {
 protected:
  TornLongClaim() : JudgedByClients(test::with_aof()) {}
};

TEST_F(TornLongClaim, RetryCountsOnce) {
  const spec_request request{.capacity = 100'000, .error_rate = 1e-12, .partitions = 1};
  random_digests random(98);
  const opened_job before(make(request));
  const spec& s = before.filter->get_spec();
  auto torn = test::new_events(random, 0, many);
  for (event& e : torn) e.counters = {"all"};
  torn.push_back({many, torn.front().key, {}, {"all"}});
  const auto claim = [&](const opened_job& job, const std::string& lane) {
    const auto got = claim_events(*job, s, {lane, 0}, torn);
    return got.result ? text_of(got.verdicts) : got.result.error().message;
  };
  const std::string once = std::string(many, '0') + "1";
  torn_aof file(server_);
  const std::size_t from = file.bytes().size();
  ASSERT_EQ(claim(before, "one"), once);
  const std::string bytes = file.bytes();
  for (const std::size_t cut : torn_aof::cuts(bytes, from)) {
    SCOPED_TRACE("cut " + std::to_string(cut - from) + " bytes behind " + std::to_string(from));
    for (const bool retried_at_once : {true, false}) {
      file.end_with(bytes, cut);
      if (retried_at_once) {
        ASSERT_EQ(claim(opened_job(client()), "one"), once);
      } else {
        (void)server_.run({"EVAL", "redis.call('INCR', 'x') redis.call('INCR', 'x')", "0"});
      }
      file.crash();
      ASSERT_EQ(claim(opened_job(client()), "one"), once);
      ASSERT_EQ(claim(opened_job(client()), "two"), std::string(many + 1, '1'));
      ASSERT_EQ(test::counters_of(*opened_job(client())),
                (std::map<std::string, std::int64_t>{{"all", static_cast<std::int64_t>(many)}}));
      ASSERT_EQ(client()->state(0).keys(), many);
    }
  }
}

}  // namespace
}  // namespace everseen::redis
