// Plain keys, as redis-cli and clients in other languages send them.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"

#include "test/module/module_server.hpp"

namespace everseen::redis_module {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PlainCommands : public testing::Test {
 protected:
  std::shared_ptr<stored_filter> make(spec_request request) {
    return filter_at(server_, "f", std::move(request));
  }
  std::string run(std::initializer_list<std::string> words) const { return server_.run(words); }

  redis_server server_{test::with_module()};
};

TEST_F(PlainCommands, AddDistinguishesFreshKeysFromKnownOnes) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 4});
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice", "bob", "alice", "", "carol"}), "1\n1\n0\n1\n1");
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "bob", "dave", ""}), "1\n0\n1");
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "dave"}), "1");
}

TEST_F(PlainCommands, UseTheKeysThatClientsAdd) {
  const auto filter = make({.capacity = 1000, .error_rate = 1e-9, .partitions = 4});
  const hasher hash(filter->get_spec().hash, filter->get_spec().seed);
  const std::vector<digest> keys = {hash("alice"), hash("bob")};
  ASSERT_EQ(add_keys(*filter, keys).result->fresh, 2U);
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "bob", "carol", "alice"}), "1\n0\n1");
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "carol"}), "1");
  const std::vector<digest> carol = {hash("carol")};
  EXPECT_EQ(check_keys(*filter, carol).result->seen, 1U);
}

TEST_F(PlainCommands, GrowTheFilter) {
  const auto filter = make({.capacity = 10, .error_rate = 1e-9, .partitions = 2});
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "key" + std::to_string(i)}), "1") << i;
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "key" + std::to_string(i)}), "1") << i;
  EXPECT_EQ(test::keys_in(*filter), 500U);
  EXPECT_GT(filter->state(0).slices.at(0).layers.size(), 3U);
}

// A segment of 20 MiB is created in steps, so that no call takes long.
TEST_F(PlainCommands, ReportThatALargeFilterIsBeingEnlarged) {
  const auto filter =
      make({.capacity = 10'000'000, .error_rate = 1e-3, .layout = layout_kind::line_8x64, .partitions = 1});
  int times = 0;
  std::string said;
  while ((said = run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"})).starts_with("-GROWING")) ++times;
  EXPECT_EQ(said, "1");
  EXPECT_GT(times, 2);
  EXPECT_LT(times, 30);
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "0");
}

// All partitions need a segment; the server is blocked no longer than by one of them.
TEST_F(PlainCommands, CreateFewEnoughSegmentsInACallToStayFast) {
  (void)make(
      {.capacity = 10'000'000, .error_rate = 1e-3, .layout = layout_kind::line_8x64, .partitions = 16});
  const auto memory = [&] { return std::stoull(field_of(server_, "memory", "used_memory_dataset")); };
  std::vector<std::string> words = {"EVERSEEN.ADDKEYS", "everseen:f"};
  for (int i = 0; i < 500; ++i) words.push_back("key" + std::to_string(i));
  const auto before = memory();
  const std::string said = test::raw_command(server_.unix_path(), words);
  EXPECT_LT(memory() - before, std::uint64_t{6} << 20);
  EXPECT_THAT(said, HasSubstr("-GROWING "));
  EXPECT_THAT(said, testing::StartsWith("1"));
  std::string last = said;
  for (int calls = 0; calls < 20 && last.find("-GROWING ") != std::string::npos; ++calls)
    last = test::raw_command(server_.unix_path(), words);
  words[0] = "EVERSEEN.CHECKKEYS";
  EXPECT_EQ(test::raw_command(server_.unix_path(), words).find_first_not_of("1\n"), std::string::npos);
}

// Scattered bits are propagated to followers one by one.
TEST_F(PlainCommands, AddFewEnoughKeysInACallToPropagateThemFast) {
  (void)make({.capacity = 100'000,
              .error_rate = 1e-6,
              .layout = layout_kind::classic,
              .probes = 16,
              .partitions = 2});
  while (run({"EVERSEEN.ADDKEYS", "everseen:f", "a", "b", "c", "d", "e", "f"}).find("-GROWING") !=
         std::string::npos) {
  }
  std::vector<std::string> words = {"EVERSEEN.ADDKEYS", "everseen:f"};
  for (int i = 0; i < 5000; ++i) words.push_back("key" + std::to_string(i));
  const auto fresh_now = [&] {
    const std::string said = test::raw_command(server_.unix_path(), words);
    EXPECT_EQ(said.find("-GROWING"), std::string::npos);
    return std::ranges::count(said, '1');
  };
  run({"CONFIG", "SET", "appendonly", "yes"});
  // Beside the child that writes the first AOF, a call ends even earlier.
  test::wait_until(
      [&] {
        return field_of(server_, "persistence", "aof_rewrite_in_progress") == "0" &&
               field_of(server_, "persistence", "aof_rewrite_scheduled") == "0";
      },
      "the AOF is there");
  EXPECT_EQ(fresh_now(), 2048);
  EXPECT_THAT(test::raw_command(server_.unix_path(), words), HasSubstr("-LIMIT "));
  EXPECT_EQ(fresh_now(), 5000 - 2 * 2048);
  run({"CONFIG", "SET", "appendonly", "no"});
  for (std::size_t i = 2; i < words.size(); ++i) words[i] += "b";
  EXPECT_EQ(fresh_now(), 5000) << "there are no followers";
}

// Its keys are numbers to the program that created it.
TEST_F(PlainCommands, ReadTheKeysOfAFilterOfGuavaAsGuavaDoes) {
  const auto made = make(
      {.capacity = 1000, .error_rate = 1e-9, .layout = layout_kind::guava64, .funnel = funnel_kind::int64});
  filter f("f", made);
  ASSERT_EQ(f.add("42"), verdict::fresh);
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "42", "+42", "43"}).substr(0, 2), "1\n");
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "42", "43"}), "0\n1");
  EXPECT_TRUE(f.may_contain("43"));
  const std::string said = run({"EVERSEEN.ADDKEYS", "everseen:f", "44", "alice", "45", "bob", "42"});
  EXPECT_THAT(said, testing::MatchesRegex("1\n-UNFIT [^\n]*\n1\n-UNFIT [^\n]*\n0")) << "each key separately";
  const std::string state = state_of(server_, "f");
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", state, "44", "42"}), "1\n1") << "by its partition, too";
  EXPECT_THAT(run({"EVERSEEN.EXPLAIN", "everseen:f", "44"}), testing::Not(HasSubstr(": 0")));
}

TEST_F(PlainCommands, ReportAFullFilter) {
  (void)make({.capacity = 2, .error_rate = 1e-9, .growth = growth_kind::refuse, .partitions = 1});
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice", "bob"}), "1\n1");
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "carol", "bob"}), StartsWith("-FULL "));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "carol", "bob"}), testing::EndsWith("\n0"));
}

TEST_F(PlainCommands, FollowTheServersClockInAWindow) {
  (void)make({.capacity = 100, .error_rate = 1e-9, .window = window_spec{400ms, 2}});
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice", "alice"}), "1\n0") << "at one time";
  test::wait_until(
      [&] {
        return run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}) == "0";
      },
      "the key expires");
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
  EXPECT_EQ(run({"HLEN", state_of(server_, "f")}), "3") << "expired keys are gone";
}

TEST_F(PlainCommands, NameOnePartitionByItsState) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 2});
  const std::string state = state_of(server_, "f");
  int mine = 0, others = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string said = run({"EVERSEEN.ADDKEYS", state, "key" + std::to_string(i)});
    mine += said == "1";
    others += said.starts_with("-CROSSPARTITION");
  }
  EXPECT_GT(mine, 0);
  EXPECT_EQ(mine + others, 40);
  EXPECT_EQ(run({"HGET", state, "keys:0.0"}), std::to_string(mine));
}

TEST_F(PlainCommands, RefuseAFilterThatIsBeingRebuilt) {
  const auto filter = make({.capacity = 1000, .partitions = 1});
  redis::redis_store store(redis::parse_redis_url(server_.url()));
  const auto rebuild = store.begin_rebuild("f", filter->get_spec(), {});
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), StartsWith("-REBUILDING "));
}

// Keys added meanwhile go to the new filter, partition by partition.
TEST_F(PlainCommands, AnswerUnknownForKeysThatAReplacedPartitionLacks) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
  (void)run({"HSET", state_of(server_, "f"), "successor", "sixteen bytes id"});
  const std::string said = run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice", "bob"});
  EXPECT_THAT(said, StartsWith("1\n-REBUILDING "));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "bob"}), StartsWith("-REBUILDING "));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", state_of(server_, "f"), "bob"}), StartsWith("-REBUILDING "));
}

TEST_F(PlainCommands, AnswerUnknownForKeysOfThePreviousFilter) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
  const std::string header = keys_of(server_, "f").header();
  for (const char* field : {"after", "next"}) {
    (void)run({"HSET", header, field, "sixteen bytes id"});
    EXPECT_THAT(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice", "bob"}), StartsWith("1\n-REBUILDING "));
    EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "bob"}), StartsWith("-REBUILDING "));
    (void)run({"HDEL", header, field});
  }
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice", "bob"}), "1\n0");
}

TEST_F(PlainCommands, RefuseAnEndedFilter) {
  redis::redis_store store(redis::parse_redis_url(server_.url()));
  (void)store.create("f", store.plan({.capacity = 1000, .error_rate = 1e-9}), 1s);
  EXPECT_EQ(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), "1");
  test::wait_until(
      [&] {
        return run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}).starts_with("-NOFILTER ");
      },
      "it has ended");
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "bob"}), StartsWith("-NOFILTER "));
}

TEST_F(PlainCommands, RefuseAFilterThatItsClientsJudge) {
  redis::redis_store store(redis::parse_redis_url(server_.url()));
  (void)store.create("f", store.plan({.capacity = 1000, .judge = judge_kind::client}));
  EXPECT_THAT(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}), HasSubstr("judged by its clients"));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), HasSubstr("judged by its clients"));
}

TEST_F(PlainCommands, RefuseAFilterThatAsksAnOlderOne) {
  (void)make({.capacity = 1000, .error_rate = 1e-9});
  redis::redis_store place(redis::parse_redis_url(server_.url()));
  (void)place.create("older", place.plan({.capacity = 1000, .error_rate = 1e-9}));
  place.link("older", "f", {});
  EXPECT_THAT(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}), HasSubstr("asks an older one first"));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), HasSubstr("link --off"));
  place.unlink("f");
  EXPECT_EQ(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}), "0");
  place.link("older", "f", 300ms);
  EXPECT_THAT(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}), HasSubstr("asks an older one first"));
  test::wait_until(
      [&] {
        return run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}) == "0";
      },
      "the link expires");
}

TEST_F(PlainCommands, RefuseAFilterWhoseBitsBelongToAnotherProgram) {
  server_.run({"SETBIT", "bits", "1023", "1"});
  (void)make({.capacity = 1000});
  server_.run({"HSET", keys_of(server_, "f").header(), "attached", "x", "key", "bits"});
  EXPECT_THAT(run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice"}), HasSubstr("is attached"));
  EXPECT_THAT(run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"}), HasSubstr("is attached"));
}

TEST_F(PlainCommands, InfoDescribesTheFilter) {
  (void)make({.capacity = 1000, .error_rate = 0.01, .layout = layout_kind::line_8x64, .partitions = 2});
  (void)run({"EVERSEEN.ADDKEYS", "everseen:f", "alice", "bob"});
  const std::string said = run({"EVERSEEN.INFO", "everseen:f"});
  EXPECT_THAT(said,
              StartsWith("capacity\n1000\nerror_rate\n0.01\nlayout\nline-8x64\nprobes\n8\nhash\nxxh3\n"));
  EXPECT_THAT(said, HasSubstr("\nkeys\n2\n"));
}

TEST_F(PlainCommands, ExplainNamesBitsThatGetbitFinds) {
  (void)make({.capacity = 1000, .error_rate = 0.01, .partitions = 1});
  (void)run({"EVERSEEN.ADDKEYS", "everseen:f", "alice"});
  const std::string said = run({"EVERSEEN.EXPLAIN", "everseen:f", "alice"});
  const std::string segment = state_of(server_, "f") + ":0.0";
  ASSERT_THAT(said, StartsWith(state_of(server_, "f") + "\n" + segment + "\nbit "));
  const std::size_t at = said.find("bit ") + 4;
  const std::string bit = said.substr(at, said.find(':', at) - at);
  EXPECT_EQ(run({"GETBIT", segment, bit}), "1");
  EXPECT_EQ(said.find(": 0"), std::string::npos);
  EXPECT_THAT(run({"EVERSEEN.EXPLAIN", "everseen:f", "bob"}), HasSubstr(": 0"));
}

TEST_F(PlainCommands, AreCountedInInfo) {
  (void)make({.capacity = 1000, .error_rate = 1e-9, .partitions = 1});
  (void)run({"EVERSEEN.ADDKEYS", "everseen:f", "alice", "bob", "bob"});
  (void)run({"EVERSEEN.CHECKKEYS", "everseen:f", "alice", "carol"});
  (void)run({"EVERSEEN.ADDKEYS", "everseen:none", "alice"});
  const auto count = [&](const std::string& field) {
    return field_of(server_, "everseen", "everseen_" + field);
  };
  EXPECT_EQ(count("keys_added"), "3");
  EXPECT_EQ(count("keys_checked"), "2");
  EXPECT_EQ(count("fresh"), "3");
  EXPECT_EQ(count("seen"), "2");
  EXPECT_EQ(count("growths"), "1");
  EXPECT_EQ(count("refusals"), "1");
  (void)run({"DEL", state_of(server_, "f") + ":0.0"});
  (void)run({"EVERSEEN.ADDKEYS", "everseen:f", "dave"});
  (void)run({"EVERSEEN.CHECKKEYS", "everseen:f", "dave"});
  EXPECT_EQ(count("keys_added"), "3") << "it got no verdict";
  EXPECT_EQ(count("keys_checked"), "2");
  EXPECT_EQ(count("refusals"), "3");
}

}  // namespace
}  // namespace everseen::redis_module
