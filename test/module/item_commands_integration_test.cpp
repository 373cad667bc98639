// EVERSEEN.RESERVE, ADD and CHECK: items on values of every kind.

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/value_server.hpp"

namespace everseen::redis_module {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Items : public testing::Test {
 protected:
  std::string run(std::initializer_list<std::string> words) const { return server_.run(words); }

  redis_server server_{test::with_module()};
};

TEST_F(Items, AreTheSameAsThoseOfBfCommands) {
  EXPECT_EQ(run({"EVERSEEN.RESERVE", "f", "0.000001", "100"}), "OK");
  EXPECT_EQ(run({"EVERSEEN.RESERVE", "f", "0.000001", "100"}), "-ERR item exists");
  EXPECT_EQ(run({"EVERSEEN.ADD", "f", "ITEMS", "alice", "bob", "alice"}), "fresh\nfresh\nseen");
  EXPECT_EQ(run({"BF.MEXISTS", "f", "alice", "bob", "carol"}), "1\n1\n0");
  EXPECT_EQ(run({"BF.ADD", "f", "carol"}), "1");
  EXPECT_EQ(run({"EVERSEEN.CHECK", "f", "ITEMS", "carol", "dave"}), "seen\nfresh");
  EXPECT_THAT(run({"EVERSEEN.INFO", "f"}),
              StartsWith("name\nf\nkeys\n3\ncapacity\n100\nerror_rate\n1e-06\nerror_rate_now\n"));
  EXPECT_THAT(run({"EVERSEEN.EXPLAIN", "f", "alice"}), HasSubstr(": 1\nbit"));
  EXPECT_THAT(run({"EVERSEEN.EXPLAIN", "f", "alice"}), ::testing::Not(HasSubstr(": 0")));
  EXPECT_THAT(run({"EVERSEEN.EXPLAIN", "f", "erin"}), HasSubstr(": 0"));
}

TEST_F(Items, OfAWindowHaveATime) {
  EXPECT_EQ(run({"EVERSEEN.RESERVE", "w", "0.000001", "100", "WINDOW", "60000", "SLICES", "6"}), "OK");
  EXPECT_EQ(run({"EVERSEEN.ADD", "w", "TIME", "600000", "ITEMS", "alice", "bob"}), "fresh\nfresh");
  EXPECT_EQ(run({"EVERSEEN.ADD", "w", "TIME", "655000", "ITEMS", "alice", "carol"}), "seen\nfresh");
  EXPECT_EQ(run({"EVERSEEN.CHECK", "w", "TIME", "655000", "ITEMS", "alice"}), "seen");
  EXPECT_EQ(run({"EVERSEEN.CHECK", "w", "TIME", "700000", "ITEMS", "alice", "carol"}), "fresh\nseen");
  EXPECT_EQ(run({"EVERSEEN.ADD", "w", "ITEMS", "alice"}), "fresh") << "now, by the server's clock";
  EXPECT_EQ(run({"EVERSEEN.ADD", "w", "TIME", "600000", "ITEMS", "erin"}), "late");
  EXPECT_THAT(run({"EVERSEEN.ADD", "w", "TIME", "9999999999999999", "ITEMS", "erin"}), StartsWith("-ERR"));
  EXPECT_THAT(run({"BF.ADD", "w", "erin"}), StartsWith("-ERR the filter has a window"));
  EXPECT_THAT(run({"BF.EXISTS", "w", "erin"}), StartsWith("-ERR the filter has a window"));
}

TEST_F(Items, WithoutATimeAreReplicatedWithTheClockOfTheMaster) {
  const redis_server replica(
      joined(test::with_module(), {"--replicaof", "127.0.0.1", std::to_string(server_.port())}));
  run({"EVERSEEN.RESERVE", "w", "0.000001", "100", "WINDOW", "50", "SLICES", "5"});
  for (int i = 0; i < 100; ++i) run({"EVERSEEN.ADD", "w", "ITEMS", std::to_string(i % 7), "TIME", "x"});
  const std::string before = content(server_);
  test::wait_until([&] { return content(replica) == before; }, "the replica has the same value");
}

TEST_F(Items, OfOtherPartitionsAreRefused) {
  const stored_partition value(server_, "p", {.capacity = 1'000, .error_rate = 1e-6, .partitions = 2}, 1);
  std::size_t added = 0, refused = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string reply = run({"EVERSEEN.ADD", "p", "ITEMS", std::to_string(i)});
    added += reply == "fresh";
    refused += reply.starts_with("-CROSSPARTITION");
    EXPECT_EQ(run({"EVERSEEN.CHECK", "p", "ITEMS", std::to_string(i)}), reply == "fresh" ? "seen" : reply);
  }
  EXPECT_EQ(added + refused, 40U);
  EXPECT_GT(added, 5U);
  EXPECT_GT(refused, 5U);
  EXPECT_THAT(run({"BF.ADD", "p", "erin"}), StartsWith("-ERR the filter has a window, or is one partition"));
}

TEST_F(Items, WithoutRoomAreRefusedByThemselves) {
  const stored_partition value(server_, "f",
                               {.capacity = 2, .error_rate = 1e-9, .growth = growth_kind::refuse});
  EXPECT_THAT(run({"EVERSEEN.ADD", "f", "ITEMS", "a", "b", "c", "a"}),
              ::testing::StrEq("fresh\nfresh\n-ERR non scaling filter is full\nseen"));
}

TEST_F(Items, InvalidWordsAreRefused) {
  run({"EVERSEEN.RESERVE", "f", "0.01", "10"});
  for (const char* verb : {"EVERSEEN.ADD", "EVERSEEN.CHECK"}) {
    EXPECT_EQ(run({verb, "f", "a", "b"}), "-ERR syntax error: the items follow the word ITEMS");
    EXPECT_EQ(run({verb, "f", "TIME", "5"}), "-ERR syntax error: the items follow the word ITEMS");
    EXPECT_THAT(run({verb, "f", "a"}), StartsWith("-ERR wrong number"));
    EXPECT_THAT(run({verb, "f", "ITEMS"}), StartsWith("-ERR wrong number"));
  }
  EXPECT_EQ(run({"BF.CARD", "f"}), "0");
  EXPECT_EQ(run({"EVERSEEN.ADD", "f", "ITEMS", "ITEMS", "TIME"}), "fresh\nfresh");
  EXPECT_THAT(run({"EVERSEEN.RESERVE", "g", "0.01"}), StartsWith("-ERR wrong number"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"2", "10"},
                                             {"0.01", "0"},
                                             {"x", "10"},
                                             {"0.01", "10", "WINDOW"},
                                             {"0.01", "10", "WINDOW", "x"},
                                             {"0.01", "10", "WINDOW", "0"},
                                             {"0.01", "10", "WINDOW", "-1"},
                                             {"0.01", "10", "SLICES", "3"},
                                             {"0.01", "10", "WINDOW", "1000", "SLICES", "0"},
                                             {"0.01", "10", "NONE", "3"}})
    EXPECT_THAT(test::raw_command(server_.unix_path(), joined({"EVERSEEN.RESERVE", "g"}, words)),
                StartsWith("-"))
        << words.back();
  EXPECT_EQ(run({"EXISTS", "g"}), "0");
}

}  // namespace
}  // namespace everseen::redis_module
