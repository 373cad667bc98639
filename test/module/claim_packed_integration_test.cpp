// EVERSEEN.CLAIMPACKED: exact verdicts and counters, replays, replication, invalid input.

#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/format/redis_keys.hpp"

#include "test/module/value_server.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis_module {
namespace {

using namespace std::chrono_literals;
using test::random_digests;
using ::testing::StartsWith;

std::string be32(std::size_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// Events of one lane, with consecutive positions.
struct events {
  packed_keys keys{};
  std::uint64_t first = 0;
  std::vector<std::string> names{};  ///< of counters; event i is counted under name 0 and name 1 + i mod rest

  [[nodiscard]] std::string positions() const {
    std::string bytes;
    for (std::size_t i = 0; i < keys.digests.size(); ++i) append_position(bytes, first + i);
    return bytes;
  }
  [[nodiscard]] std::size_t second_name(std::size_t event) const { return 1 + event % (names.size() - 1); }
};

class PackedClaim : public testing::Test {
 protected:
  explicit PackedClaim(std::vector<std::string> config = {}) : server_(joined(test::with_module(), config)) {}

  void begin(spec_request request) {
    request.error_rate = never_wrong;
    value_.emplace(server_, "f", request);
    server_.run({"HSET", "f:ljob", "", "1"});
    record_ = {};
  }

  [[nodiscard]] std::vector<std::string> words(const events& e, const std::string& head,
                                               std::size_t forgotten) const {
    std::vector<std::string> all = {"EVERSEEN.CLAIMPACKED",
                                    "f",
                                    "f:ljob",
                                    "lane",
                                    head,
                                    std::to_string(forgotten),
                                    std::to_string(e.keys.slice),
                                    e.keys.bytes(),
                                    e.keys.offsets(),
                                    "",
                                    e.positions(),
                                    e.names.empty() ? "0" : "2",
                                    ""};
    if (!e.names.empty())
      for (std::size_t i = 0; i < e.keys.digests.size(); ++i) all[12] += be32(0) + be32(e.second_name(i));
    all.insert(all.end(), e.names.begin(), e.names.end());
    return all;
  }

  /// Claims as a client does: it knows the record, and forgets what is settled.
  std::string claim(const events& e, std::uint64_t settled = 0) {
    const std::string head = record_.head();
    const std::size_t forgotten = head.size() + 8 * record_.settled_before(settled);
    const std::string reply = value_->run(words(e, head, forgotten));
    if (reply.starts_with('-')) return reply;
    record_.forget(settled);
    for (std::size_t i = 0; i < reply.size() && reply[i] != '3'; ++i)
      record_.note(e.first + i, reply[i] == '0');
    return reply;
  }
  [[nodiscard]] std::string stored_record() const {
    const std::string found = value_->run({"HGET", "f:ljob", "lane"});
    return found == "(nil)" ? "" : found;
  }
  [[nodiscard]] std::string counter(const std::string& name) const {
    return value_->run({"HGET", "f:ljob", partition_keys::counter_field(name)});
  }

  redis_server server_;
  random_digests random_{31};
  std::optional<stored_partition> value_;
  lane_record record_;
};

TEST_F(PackedClaim, JudgesCountsAndRemembersExactly) {
  begin({.capacity = 300});
  std::vector<digest> known;
  std::map<std::string, long long> counts;
  std::mt19937 dice(5);
  for (std::uint64_t next = 0, settled = 0; next < 6'000;) {
    events e{{random_.take(1 + dice() % 300)}, next, {"all", "a", "b", "c"}};
    std::string expected(e.keys.digests.size(), '0');
    for (std::size_t i = 0; i < e.keys.digests.size(); ++i) {
      digest& each = e.keys.digests[i];
      if (dice() % 4 == 0 && !known.empty()) each = known[dice() % known.size()], expected[i] = '1';
      if (expected[i] == '0') known.push_back(each);
      for (const std::size_t name : {std::size_t{0}, e.second_name(i)})
        counts[e.names[name]] += expected[i] == '0';
    }
    ASSERT_EQ(claim(e, settled), expected);
    ASSERT_EQ(stored_record(), record_.encode());
    next += e.keys.digests.size();
    if (dice() % 3 == 0) settled = next;
  }
  for (const auto& [name, sum] : counts) EXPECT_EQ(counter(name), std::to_string(sum)) << name;
}

TEST_F(PackedClaim, ThatIsRepeatedIsRefusedAndTheRecordHasItsVerdicts) {
  begin({.capacity = 300});
  const events e{{random_.take(50)}, 0, {"all", "a"}};
  ASSERT_EQ(claim(e), std::string(50, '0'));
  const std::string before = content(server_);
  EXPECT_THAT(value_->run(words(e, "", 0)), StartsWith("-CLAIMED"));
  EXPECT_EQ(content(server_), before);
  EXPECT_EQ(lane_record::decode(stored_record()).fresh().size(), 50U);
  value_->run({"EVERSEEN.SEAL", "f", "0123456789abcdef"});
  EXPECT_THAT(value_->run(words(e, "", 0)), StartsWith("-CLAIMED")) << "its reply was lost before";
  EXPECT_THAT(claim({{random_.take(1)}, 50}), StartsWith("-SEALED"));
}

TEST_F(PackedClaim, AfterTheJobHasEndedIsRefused) {
  begin({.capacity = 300});
  ASSERT_EQ(claim({{random_.take(3)}, 0}), "000");
  server_.run({"DEL", "f:ljob"});
  const std::string before = content(server_);
  EXPECT_THAT(claim({{random_.take(3)}, 3}), StartsWith("-ENDED"));
  EXPECT_THAT(value_->run(words({{random_.take(3)}, 3}, "", 0)), StartsWith("-ENDED"));
  EXPECT_EQ(content(server_), before);
}

TEST_F(PackedClaim, InAWindowTakesEventsOfMixedTimes) {
  begin({.capacity = 2'000, .window = window_spec{10min, 5}});
  events e{{random_.take(60), 20}, 0};
  for (std::size_t i = 0; i < 60; ++i) e.keys.slices.push_back(i < 50 ? 50 + static_cast<int>(i) / 10 : 20);
  EXPECT_EQ(claim(e), std::string(50, '0') + std::string(10, '2'));
  EXPECT_EQ(stored_record(), record_.encode());
}

TEST_F(PackedClaim, OfAFullFilterEndsWithTheFirstEventWithoutRoom) {
  begin({.capacity = 10, .growth = growth_kind::refuse, .window = window_spec{10min, 5}});
  // Half of the events are of another slice, which has room.
  events e{{random_.take(200), 100}, 0, {"all", "a"}};
  for (std::size_t i = 0; i < 200; ++i) e.keys.slices.push_back(i < 100 ? 100 : 101);
  const std::string reply = claim(e);
  const auto room = reply.find('3');
  ASSERT_LT(room, 100U);
  EXPECT_EQ(reply, std::string(room, '0') + '3');
  EXPECT_EQ(counter("all"), std::to_string(room));
  const std::string judged = value_->check({e.keys.digests, 101});
  EXPECT_EQ(judged, std::string(room, '1') + std::string(200 - room, '0')) << "no later one was added";
  EXPECT_EQ(claim({{{e.keys.digests.begin() + static_cast<std::ptrdiff_t>(room), e.keys.digests.end()}, 100},
                   room}),
            "3");
}

class PackedClaimWithAof : public PackedClaim {
 protected:
  PackedClaimWithAof() : PackedClaim(test::with_aof()) {}
};

TEST_F(PackedClaimWithAof, IsThereAfterARestart) {
  begin({.capacity = 300});
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_EQ(claim({{random_.take(500)}, 500 * i, {"all", "a", "b"}}, 300 * i), std::string(500, '0'));
  const std::string before = content(server_);
  server_.kill();
  server_.start();
  EXPECT_EQ(content(server_), before);
  EXPECT_EQ(counter("all"), "2000");
  EXPECT_EQ(stored_record(), record_.encode());
}

TEST_F(PackedClaim, IsTheSameOnAReplica) {
  const redis_server replica(
      joined(test::with_module(), {"--replicaof", "127.0.0.1", std::to_string(server_.port())}));
  begin({.capacity = 300, .window = window_spec{10min, 5}});
  for (std::uint64_t i = 0; i < 20; ++i)
    claim({{random_.take(200), 100 + static_cast<int>(i) / 3}, 200 * i, {"all", "a"}}, 100 * i);
  const std::string before = content(server_);
  test::wait_until([&] { return content(replica) == before; }, "the replica has the same content");
}

TEST_F(PackedClaim, ThatWasRefusedLetsWaitWaitForTheFirst) {
  const redis_server replica(
      joined(test::with_module(), {"--replicaof", "127.0.0.1", std::to_string(server_.port())}));
  begin({.capacity = 300});
  const std::string made = content(server_);
  test::wait_until([&] { return content(replica) == made; }, "the replica is in step");
  const events e{{random_.take(50)}, 0};
  ASSERT_EQ(claim(e), std::string(50, '0'));
  const auto offset = [&] { return std::stoll(field_of(server_, "replication", "master_repl_offset")); };
  const long long before = offset();
  EXPECT_THAT(value_->run(words(e, "", 0)), StartsWith("-CLAIMED"));
  EXPECT_GT(offset(), before);
}

class BadPackedClaim : public PackedClaim {
 protected:
  BadPackedClaim() {
    begin({.capacity = 1'000});
    (void)claim({{random_.take(20)}, 0});
    right_ = words({{random_.take(2)}, 20, {"a", "b"}}, record_.head(), 8);
    before_ = content(server_);
  }
  std::string with(std::size_t index, std::string word) const {
    auto all = right_;
    all[index] = std::move(word);
    return value_->run(all);
  }
  std::vector<std::string> right_;
  std::string before_;
};

TEST_F(BadPackedClaim, InvalidWordsAreRefused) {
  for (const std::size_t index : {5, 6, 10})
    for (const char* word : {"", "x", "-", "99999999999999999999"})
      EXPECT_THAT(with(index, word), StartsWith("-ERR"));
  const std::string zeros(16, '\0');
  EXPECT_THAT(with(1, "g"), StartsWith("-GONE"));
  EXPECT_THAT(with(1, "f:ljob"), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(with(2, "f:tjob"), StartsWith("-ERR the records"));
  EXPECT_THAT(with(2, "f:lother"), StartsWith("-ENDED"));
  for (const std::string& lane : {std::string(), std::string("\0a", 2)})
    EXPECT_THAT(with(3, lane), StartsWith("-ERR a lane"));
  EXPECT_THAT(with(4, "1234567"), StartsWith("-ERR a head"));
  EXPECT_THAT(with(4, ""), StartsWith("-CLAIMED"));
  for (const char* bytes : {"0", "7", "12", "176"})
    EXPECT_THAT(with(5, bytes), StartsWith("-ERR the forgotten"));
  EXPECT_THAT(with(6, "1"), StartsWith("-ERR the filter has no window"));
  EXPECT_THAT(with(7, zeros.substr(1)), StartsWith("-ERR digests"));
  EXPECT_THAT(with(8, "abc"), StartsWith("-ERR offsets"));
  EXPECT_THAT(with(8, std::string("\0\1", 2)), StartsWith("-ERR the filter has no window"));
  EXPECT_THAT(with(10, zeros.substr(8)), StartsWith("-ERR positions are"));
  EXPECT_THAT(with(10, zeros), StartsWith("-ERR positions do not"));
  EXPECT_THAT(with(11, "1"), StartsWith("-ERR places"));
  EXPECT_THAT(with(11, "4611686018427387905"), StartsWith("-ERR places"));
  EXPECT_THAT(with(12, be32(2) + be32(0) + be32(0) + be32(0)), StartsWith("-ERR a place is beyond"));
  EXPECT_THAT(value_->run({right_.begin(), right_.begin() + 11}), StartsWith("-ERR wrong number"));
  EXPECT_EQ(content(server_), before_);
  EXPECT_EQ(value_->run(right_), "00");
}

TEST_F(BadPackedClaim, RandomInputNeverEndsTheServerOrChangesTheLane) {
  std::mt19937_64 random(4);
  const std::vector<std::string> odd = {"f",
                                        "f:ljob",
                                        "",
                                        "0",
                                        "8",
                                        "-1",
                                        "9223372036854775807",
                                        std::string(8, '\0'),
                                        std::string(32, 'x'),
                                        "lane",
                                        std::string(300, '\xff')};
  for (int i = 0; i < 20'000; ++i) {
    auto command = right_;
    command[4] = std::string(8, '\1');  // another head: else one of the claims would be valid
    for (std::size_t changes = random() % 4; changes > 0; --changes)
      command[1 + random() % (command.size() - 1)] = odd[random() % odd.size()];
    (void)value_->run(command);
  }
  EXPECT_EQ(server_.run({"PING"}), "PONG");
  EXPECT_EQ(stored_record(), record_.encode());
}

}  // namespace
}  // namespace everseen::redis_module
