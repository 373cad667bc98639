// Invalid input gives an error and changes nothing.

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/module_server.hpp"

namespace everseen::redis_module {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::random_digests;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string packed(std::size_t keys, std::uint64_t seed = 1) {
  const auto digests = random_digests(seed).take(keys);
  return {reinterpret_cast<const char*>(digests.data()), keys * sizeof(digest)};
}

const std::string sequence = "00000000000000000001";

class BadInput : public testing::Test {
 protected:
  BadInput() {
    const auto filter = filter_at(server_, "f", {.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
    if (!add_keys(*filter, random_digests(7).take(50)).result) throw std::runtime_error("no filter");
    state_ = state_of(server_, "f");
    epoch_ = run({"HGET", state_, "epoch"});
    before_ = content(server_);
  }

  std::string run(std::vector<std::string> words) const {
    return test::raw_command(server_.unix_path(), words);
  }
  /// A valid command, except for the given words.
  [[nodiscard]] std::vector<std::string> add() const {
    return {"EVERSEEN.ADD", state_, state_ + ":t:me", epoch_, "0", sequence, "600000", packed(10)};
  }
  [[nodiscard]] std::vector<std::string> check() const {
    return {"EVERSEEN.CHECK", state_, epoch_, "0", packed(10)};
  }
  void expect_nothing_changed() const { EXPECT_EQ(content(server_), before_); }

  redis_server server_{test::with_module()};
  std::string state_;
  std::string epoch_;
  std::string before_;
};

TEST_F(BadInput, ValidCommandIsAccepted) {
  EXPECT_EQ(run(add()), "0000000000");
  EXPECT_EQ(run(add()), "0000000000") << "remembered under its sequence";
  EXPECT_EQ(run(check()), "1111111111");
}

TEST_F(BadInput, WrongNumberOfWordsIsRefused) {
  for (const auto& whole : {add(),
                            check(),
                            std::vector<std::string>{"EVERSEEN.ADDKEYS", "everseen:f", "a"},
                            {"EVERSEEN.CHECKKEYS", "everseen:f", "a"},
                            {"EVERSEEN.EXPLAIN", "everseen:f", "a"},
                            {"EVERSEEN.INFO", "everseen:f"}})
    for (std::size_t words = 1; words < whole.size(); ++words) {
      const std::vector<std::string> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(words));
      EXPECT_THAT(run(cut), StartsWith("-ERR wrong number of arguments")) << words << " of " << whole[0];
    }
  for (auto more : {add(),
                    check(),
                    std::vector<std::string>{"EVERSEEN.EXPLAIN", "everseen:f", "a"},
                    {"EVERSEEN.INFO", "everseen:f"}}) {
    more.push_back("more words");
    if (more[0] == "EVERSEEN.ADD") more.push_back("more");
    EXPECT_THAT(run(more), StartsWith("-ERR wrong number of arguments")) << more[0];
  }
  expect_nothing_changed();
}

TEST_F(BadInput, InvalidWordsAreRefused) {
  const std::vector<std::string> bad_numbers = {"",   " 1", "1 ", "-", "x", "1e3", "99999999999999999999999",
                                                "0x1"};
  for (const std::size_t word : {3, 4, 6})
    for (const std::string& bad : bad_numbers) {
      auto words = add();
      words[word] = bad;
      EXPECT_THAT(run(words), StartsWith("-ERR")) << word << " '" << bad << "'";
    }
  for (const std::string& bad : {std::string(), std::string("1"), std::string(21, '0'), packed(1000)}) {
    auto words = add();
    words[5] = bad;
    EXPECT_THAT(run(words), StartsWith("-ERR")) << bad.size();
  }
  for (const std::string life : {"0", "-1", "9223372036854775807"}) {
    auto words = add();
    words[6] = life;
    EXPECT_THAT(run(words), StartsWith("-ERR"));
  }
  for (const std::string& token : {state_, state_ + ":0.0", std::string("other:t:me")}) {
    auto words = add();
    words[2] = token;
    EXPECT_THAT(run(words), StartsWith("-ERR the token")) << token;
  }
  auto words = add();
  words[4] = "1";
  EXPECT_THAT(run(words), StartsWith("-ERR the filter has no window"));
  expect_nothing_changed();
}

TEST_F(BadInput, TruncatedDigestsAreRefused) {
  for (std::size_t bytes = 1; bytes < 48; ++bytes) {
    auto words = add();
    words.back() = packed(10).substr(0, bytes);
    if (bytes % 16 == 0) continue;
    EXPECT_THAT(run(words), StartsWith("-ERR digests")) << bytes;
  }
  expect_nothing_changed();
}

TEST_F(BadInput, BatchesThatAreTooLargeAreRefused) {
  auto words = add();
  words.back() = packed(65'537);
  EXPECT_THAT(run(words), StartsWith("-ERR more than 65536"));
  words = {"EVERSEEN.ADDKEYS", "everseen:f"};
  words.resize(65'540, "a");
  EXPECT_THAT(run(words), StartsWith("-ERR more than 65536"));
  expect_nothing_changed();
}

TEST_F(BadInput, EmptyBatchGetsAnEmptyAnswer) {
  auto words = check();
  words.back() = "";
  EXPECT_EQ(run(words), "");
}

TEST_F(BadInput, AnotherEpochIsStale) {
  auto words = add();
  words[3] = "77";
  EXPECT_EQ(run(words), "S");
  words = check();
  words[2] = "77";
  EXPECT_EQ(run(words), "S");
  expect_nothing_changed();
}

TEST_F(BadInput, SequenceOlderThanTheLastGetsNoAnswer) {
  auto words = add();
  words[5] = "00000000000000000005";
  EXPECT_EQ(run(words), "0000000000");
  const std::string after = content(server_);
  EXPECT_EQ(run(add()), "O");
  EXPECT_EQ(content(server_), after);
}

TEST_F(BadInput, KeysOfOtherTypesAreRefused) {
  run({"SET", "text", "x"});
  run({"LPUSH", "list", "x"});
  run({"HSET", "hash", "a", "b"});
  before_ = content(server_);
  for (const std::string key : {"text", "list", "hash", "none"}) {
    auto words = add();
    words[1] = key;
    words[2] = key + ":t:me";
    EXPECT_THAT(run(words), testing::AnyOf("M", StartsWith("C"))) << key;
    for (const std::string command : {"EVERSEEN.ADDKEYS", "EVERSEEN.CHECKKEYS", "EVERSEEN.EXPLAIN"})
      EXPECT_THAT(run({command, key, "a"}), StartsWith("-")) << command << ' ' << key;
    EXPECT_THAT(run({"EVERSEEN.INFO", key}), StartsWith("-")) << key;
  }
  run({"LPUSH", state_ + ":t:list", "x"});
  before_ = content(server_);
  auto words = add();
  words[2] = state_ + ":t:list";
  EXPECT_THAT(run(words), StartsWith("-WRONGTYPE"));
  expect_nothing_changed();
}

TEST_F(BadInput, DamagedStatesAreRefused) {
  const std::string manifest = run({"HGET", state_, "manifest"});
  const auto expect_refused = [&](const std::string& what) {
    before_ = content(server_);
    EXPECT_THAT(run(add()), testing::AnyOf("M", "S", StartsWith("C"))) << what;
    EXPECT_THAT(run(check()), testing::AnyOf("M", "S", StartsWith("C"))) << what;
    EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "a"}), StartsWith("-")) << what;
    EXPECT_THAT(run({"EVERSEEN.INFO", "everseen:f"}), StartsWith("-")) << what;
    expect_nothing_changed();
  };
  for (std::size_t at = 0; at < manifest.size(); at += 5) {
    std::string damaged = manifest;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    run({"HSET", state_, "manifest", damaged});
    expect_refused("byte " + std::to_string(at));
  }
  for (std::size_t bytes = 0; bytes < manifest.size(); bytes += 7) {
    run({"HSET", state_, "manifest", manifest.substr(0, bytes)});
    expect_refused(std::to_string(bytes) + " bytes");
  }
  run({"HSET", state_, "manifest", manifest, "keys:0.0", "many"});
  expect_refused("count");
  run({"HDEL", state_, "keys:0.0"});
  expect_refused("no count");
  for (const std::string count : {"050", "+50", "9223372036854775807", "18446744073709551615"}) {
    run({"HSET", state_, "keys:0.0", count});
    expect_refused("a count that the server does not raise");
  }
  run({"HSET", state_, "keys:0.0", "50", "epoch", "x"});
  expect_refused("epoch");
}

TEST_F(BadInput, StateOfAnotherFilterIsRefused) {
  std::string other = state_;
  char& digit = other[other.find('{') + 1];
  digit = digit == '0' ? '1' : '0';
  run({"COPY", state_, other});
  EXPECT_THAT(run({"EVERSEEN.CHECK", other, epoch_, "0", packed(3)}), StartsWith("Cbelongs to another"));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", other, "a"}), StartsWith("-DAMAGED"));
}

TEST_F(BadInput, InvalidReferencesToTheStatesAreRefused) {
  const std::string index = redis::filter_keys::index("everseen");
  const std::string header = keys_of(server_, "f").header();
  const std::string id = run({"HGET", index, "f"}), spec = run({"HGET", header, "spec"});
  const auto expect_refused = [&](const std::string& by) {
    before_ = content(server_);
    for (const std::string command : {"EVERSEEN.ADDKEYS", "EVERSEEN.CHECKKEYS", "EVERSEEN.EXPLAIN"})
      EXPECT_THAT(run({command, "everseen:f", "a"}), StartsWith(by)) << command;
    EXPECT_THAT(run({"EVERSEEN.INFO", "everseen:f"}), StartsWith(by));
    expect_nothing_changed();
  };
  for (const std::string& bytes : {std::string(), id.substr(1), id + 'x'}) {
    run({"HSET", index, "f", bytes});
    expect_refused("-DAMAGED the key " + index);
  }
  run({"HSET", index, "f", std::string(16, 'x')});
  expect_refused("-NOFILTER");
  run({"HSET", index, "f", id});
  for (std::size_t at = 0; at < spec.size(); at += 3) {
    std::string damaged = spec;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    run({"HSET", header, "spec", damaged});
    expect_refused("-DAMAGED the key " + header);
  }
  run({"HSET", header, "spec", spec, "id", std::string(16, 'x')});
  expect_refused("-DAMAGED the key " + header + " belongs");
  run({"HSET", header, "id", id, "expires_at", "soon"});
  expect_refused("-DAMAGED the key " + header + " has no valid end");
  run({"HDEL", header, "expires_at"});
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "a"}), "0");
  run({"SET", header, "x"});
  expect_refused("-WRONGTYPE");
  run({"DEL", header});
  expect_refused("-NOFILTER");
  run({"SET", index, "x"});
  expect_refused("-WRONGTYPE");
}

TEST_F(BadInput, MissingSegmentsAreNamed) {
  const std::string segment = state_ + ":0.0";
  for (const auto& damage : std::vector<std::vector<std::string>>{{"SETRANGE", segment, "100000", "x"},
                                                                  {"SET", segment, "short"},
                                                                  {"DEL", segment},
                                                                  {"LPUSH", segment, "x"}}) {
    run(damage);
    before_ = content(server_);
    EXPECT_EQ(run(add()), "D0.0") << damage[0];
    EXPECT_EQ(run(check()), "D0.0") << damage[0];
    EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "a"}), StartsWith("-DAMAGED")) << damage[0];
    expect_nothing_changed();
  }
}

TEST_F(BadInput, ServerWithoutMemoryAddsNothingAndStillLooksUp) {
  run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THAT(run(add()), StartsWith("-OOM"));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "a"}), StartsWith("-OOM"));
  EXPECT_EQ(run(check()), "0000000000");
  run({"CONFIG", "SET", "maxmemory", "0"});
  expect_nothing_changed();
}

TEST_F(BadInput, UserWithoutRightsToTheSegmentsChangesNothing) {
  // Access to the state and the tokens, but not to the keys beside them.
  run({"ACL", "SETUSER", "eve", "on", ">secret", "resetkeys", "~" + state_, "~" + state_ + ":t:*", "+@all"});
  const auto as_eve = [&](std::vector<std::string> words) {
    return test::raw_commands(
               server_.unix_path(),
               std::vector<std::vector<std::string>>{{"AUTH", "eve", "secret"}, std::move(words)})
        .back();
  };
  EXPECT_THAT(as_eve(add()), StartsWith("-NOPERM"));
  EXPECT_THAT(as_eve(check()), StartsWith("-NOPERM"));
  EXPECT_THAT(as_eve({"EVERSEEN.ADDKEYS", state_, "a"}), StartsWith("-NOPERM"));
  EXPECT_THAT(as_eve({"EVERSEEN.ADDKEYS", "everseen:f", "a"}), StartsWith("-NOPERM"));
  EXPECT_EQ(content(server_), before_);
}

TEST_F(BadInput, UserWithoutRightsToCreateSegmentsCreatesNone) {
  (void)filter_at(server_, "empty", {.capacity = 100, .partitions = 1});
  const std::string state = state_of(server_, "empty");
  run({"ACL", "SETUSER", "eve", "on", ">secret", "resetkeys", "~" + state, "+@all"});
  const std::string before = content(server_);
  const std::vector<std::vector<std::string>> commands = {{"AUTH", "eve", "secret"},
                                                          {"EVERSEEN.ADDKEYS", state, "a"}};
  EXPECT_THAT(test::raw_commands(server_.unix_path(), commands).back(), StartsWith("-NOPERM"));
  EXPECT_EQ(content(server_), before);
}

/// The abilities of a user with rights on some keys only.
class Rights : public BadInput {
 protected:
  void give(const std::vector<std::string>& keys) const {
    std::vector<std::string> words = {"ACL", "SETUSER", "eve", "on", ">secret", "resetkeys", "+@all"};
    for (const std::string& key : keys) words.push_back("~" + key);
    run(words);
  }
  [[nodiscard]] std::string as_eve(std::vector<std::string> words) const {
    const std::vector<std::vector<std::string>> both = {{"AUTH", "eve", "secret"}, std::move(words)};
    return test::raw_commands(server_.unix_path(), both).back();
  }
};

TEST_F(Rights, OnAllKeysThatLeadToAFilterAreNeeded) {
  const auto keys = keys_of(server_, "f");
  const std::string index = redis::filter_keys::index("everseen");
  std::vector<std::string> given = {"everseen:f"};
  for (const std::string& next :
       {index, keys.header(), index + ":links", keys.state(0), keys.state(0) + ":*"}) {
    give(given);
    EXPECT_THAT(as_eve({"EVERSEEN.CHECKKEYS", "everseen:f", "a"}), StartsWith("-NOPERM")) << next;
    given.push_back(next);
  }
  give(given);
  EXPECT_EQ(as_eve({"EVERSEEN.CHECKKEYS", "everseen:f", "a"}), "0");
  give({"everseen:*"});
  EXPECT_EQ(as_eve({"EVERSEEN.CHECKKEYS", "everseen:f", "a"}), "0");
}

TEST_F(Rights, OnExpiringKeysAreNeededToEndASlice) {
  const auto filter = filter_at(
      server_, "w", {.capacity = 100, .error_rate = 1e-9, .window = window_spec{600s, 10}, .partitions = 1});
  const auto now = window::slice_at({600s, 10}, wall_clock());
  const auto keys = random_digests(7).take(1);
  ASSERT_EQ(add_keys(*filter, keys, window::start_of({600s, 10}, now - 1000)).result->fresh, 1U);
  const std::string state = state_of(server_, "w");
  const std::string later = std::to_string(now);
  give({state, state + ":t:*", state + ":" + later + ".0"});
  const std::string before = content(server_);
  EXPECT_THAT(as_eve({"EVERSEEN.ADD", state, state + ":t:eve", run({"HGET", state, "epoch"}), later, sequence,
                      "600000", packed(3)}),
              StartsWith("-NOPERM"));
  EXPECT_EQ(content(server_), before);
}

// The first segment has room for some keys, and the user may not create the second.
TEST_F(Rights, KeysAddedBeforeARefusalAreAnsweredAndRemembered) {
  give({state_, state_ + ":t:*", state_ + ":0.0"});
  auto words = add();
  words.back() = packed(3000);
  const std::string said = as_eve(words);
  EXPECT_THAT(said, testing::MatchesRegex("[01]+"));
  EXPECT_GT(said.size(), 900U);
  EXPECT_LT(said.size(), 3000U);
  EXPECT_EQ(run({"GET", state_ + ":t:me"}), sequence + said);
  EXPECT_EQ(run(words), said) << "also for a user with all rights";
  words[5] = "00000000000000000002";
  words.back() = words.back().substr(16 * said.size());
  EXPECT_THAT(as_eve(words), StartsWith("-NOPERM"));
  EXPECT_EQ(run(words), std::string(3000 - said.size(), '0'));
}

class Slices : public BadInput {
 protected:
  Slices() {
    (void)filter_at(server_, "w", {.capacity = 100, .error_rate = 1e-9, .window = window, .partitions = 1});
    state_ = state_of(server_, "w");
  }
  [[nodiscard]] std::string add_in(window::slice_index slice, const std::string& digests) {
    return run(words_of(slice, digests));
  }
  [[nodiscard]] std::string add_in(window::slice_index slice, const std::string& digests,
                                   const std::string& offsets) {
    auto words = words_of(slice, digests);
    words.push_back(offsets);
    return run(words);
  }
  [[nodiscard]] std::vector<std::string> words_of(window::slice_index slice, const std::string& digests) {
    return {"EVERSEEN.ADD",        state_,          state_ + ":t:me", run({"HGET", state_, "epoch"}),
            std::to_string(slice), next_sequence(), "600000",         digests};
  }
  [[nodiscard]] std::string check_in(window::slice_index slice, const std::string& digests) const {
    return run({"EVERSEEN.CHECK", state_, run({"HGET", state_, "epoch"}), std::to_string(slice), digests});
  }
  std::string next_sequence() {
    return std::to_string(std::uint64_t{10'000'000'000'000'000'000U} + ++calls_);
  }

  static constexpr window_spec window{600s, 10};
  std::uint64_t calls_ = 0;
};

TEST_F(Slices, OutOfTheRangeOfTimeAreRefused) {
  constexpr window::slice_index today = 28'000'000, least = std::numeric_limits<window::slice_index>::min(),
                                most = std::numeric_limits<window::slice_index>::max();
  ASSERT_EQ(add_in(today, packed(3)), "000");
  const auto first = window::slice_at(window, event_time::min()),
             last = window::slice_at(window, event_time::max());
  const std::string before = content(server_);
  // Some of these overflow to the present when they are converted to milliseconds.
  for (const auto slice : {least, most, today + (window::slice_index{1} << 59),
                           today - (window::slice_index{1} << 62), first - 1, last + 1}) {
    EXPECT_THAT(add_in(slice, packed(3)), StartsWith("-ERR no time")) << slice;
    EXPECT_THAT(check_in(slice, packed(3)), StartsWith("-ERR no time")) << slice;
  }
  EXPECT_EQ(content(server_), before);
}

TEST_F(Slices, AtTheBeginningOfTimeAreValid) {
  const auto first = window::slice_at(window, event_time::min());
  EXPECT_EQ(add_in(first, packed(3)), "000");
  EXPECT_EQ(add_in(first, packed(3)), "111");
  EXPECT_EQ(add_in(0, packed(3)), "000");
  EXPECT_EQ(add_in(first, packed(3)), "222") << "late";
  EXPECT_EQ(check_in(first, packed(3)), "222");
}

// Promise: one time more than one window ahead of the clock changes nothing through any interface (dedup,
// Times in the future).
TEST_F(Slices, MoreThanAWindowAheadOfTheServersClockAreRefused) {
  const auto now = window::slice_at(window, wall_clock());
  ASSERT_EQ(add_in(now, packed(3)), "000");
  const std::string before = content(server_);
  for (const auto slice : {now + 12, now + 1'000'000, window::slice_at(window, event_time::max())}) {
    EXPECT_THAT(add_in(slice, packed(3, 50)), HasSubstr("ahead of the clock")) << slice;
    EXPECT_THAT(check_in(slice, packed(3)), HasSubstr("ahead of the clock")) << slice;
  }
  EXPECT_THAT(add_in(now, packed(2), std::string("\0\14", 2)), HasSubstr("ahead of the clock"));
  EXPECT_EQ(content(server_), before);
  EXPECT_EQ(add_in(now + 9, packed(3)), "111") << "times within the window are taken";
}

TEST_F(Slices, OfOneCallMayDiffer) {
  const std::string keys = packed(6) + packed(2) + packed(1, 9);
  // Slice 61 makes slice 51 the oldest: a key of slice 50 is new, and another one of it late.
  EXPECT_EQ(add_in(50, keys, std::string("\1\0\4\12\0\5\13\2\0", 9)), "000000102");
  EXPECT_EQ(check_in(60, keys), "111101110");
  EXPECT_EQ(run({"HGET", state_, "keys:61.0"}), "0") << "seen keys are not added";
  EXPECT_EQ(run({"HGET", state_, "keys:52.0"}), "1");
  EXPECT_EQ(run({"HGET", state_, "keys:50.0"}), "(nil)");
}

TEST_F(Slices, InvalidSlicesAreRefused) {
  ASSERT_EQ(add_in(50, packed(3)), "000");
  const std::string before = content(server_);
  for (const std::size_t bytes : {1, 2, 4, 300})
    EXPECT_THAT(add_in(50, packed(3), std::string(bytes, '\0')), StartsWith("-ERR offsets are a byte"));
  const auto before_all = window::slice_at(window, event_time::min()) - 1;
  EXPECT_THAT(add_in(before_all, packed(3), std::string("\1\1\0", 3)), StartsWith("-ERR no time"));
  EXPECT_THAT(add_in(std::numeric_limits<window::slice_index>::max(), packed(1), "\xff"),
              StartsWith("-ERR no time"));
  EXPECT_EQ(content(server_), before);
}

TEST_F(Slices, RandomSlicesAreJudgedAsOneByOne) {
  std::mt19937_64 random(12);
  const std::string both[] = {
      state_,
      (filter_at(server_, "v", {.capacity = 100, .error_rate = 1e-9, .window = window, .partitions = 1}),
       state_of(server_, "v"))};
  for (int round = 0; round < 300; ++round) {
    const std::size_t keys = random() % 40;
    const auto first = static_cast<window::slice_index>(round / 10 + random() % 3);
    std::string digests, offsets;
    for (std::size_t i = 0; i < keys; ++i) {
      digests += packed(1, random() % 2'000);
      offsets += static_cast<char>(random() % 30 == 0 ? random() % 20 : random() % 4);
    }
    state_ = both[0];
    std::string together;
    while (together.size() < keys) {
      const std::string some =
          add_in(first, digests.substr(16 * together.size()), offsets.substr(together.size()));
      ASSERT_THAT(some, testing::MatchesRegex("[012]+")) << round;
      together += some;
    }
    state_ = both[1];
    std::string alone;
    for (std::size_t i = 0; i < keys; ++i)
      alone += add_in(first + static_cast<unsigned char>(offsets[i]), digests.substr(16 * i, 16));
    ASSERT_EQ(together, alone) << round;
  }
}

/// Words at random, some of them valid.
TEST_F(BadInput, RandomInputNeverEndsTheServerOrChangesTheFilter) {
  std::mt19937_64 random(3);
  const std::vector<std::string> commands = {"EVERSEEN.ADD",       "EVERSEEN.CHECK", "EVERSEEN.ADDKEYS",
                                             "EVERSEEN.CHECKKEYS", "EVERSEEN.INFO",  "EVERSEEN.EXPLAIN"};
  const std::vector<std::string> words = {state_,
                                          state_ + ":0.0",
                                          state_ + ":t:me",
                                          "everseen:g",
                                          "everseen",
                                          "77",
                                          "-1",
                                          "0",
                                          "9223372036854775807",
                                          sequence,
                                          "",
                                          packed(3).substr(0, 47),
                                          std::string(300, '\xff')};
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string> command = {commands[random() % commands.size()]};
    const std::size_t count = random() % 9;
    for (std::size_t w = 0; w < count; ++w) command.push_back(words[random() % words.size()]);
    // This would be valid by chance, and would add.
    if (command[0] == "EVERSEEN.ADDKEYS" && command.size() > 1 && command[1] == state_)
      command[1] = "everseen:g";
    const std::string said = run(command);
    ASSERT_FALSE(said.empty() && command[0] != "EVERSEEN.CHECK" && command[0] != "EVERSEEN.ADD");
  }
  expect_nothing_changed();
}

}  // namespace
}  // namespace everseen::redis_module
