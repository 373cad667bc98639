#include "everseen/redis/wire/slot_map.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/redis/wire/reply_text.hpp"

namespace everseen::redis {
namespace {

using ::testing::ElementsAre;

const endpoint asked{"10.0.0.9", 7000};

TEST(SlotOf, MatchesTheClusterSpecification) {
  // CLUSTER KEYSLOT of Redis 7.0.15.
  EXPECT_EQ(slot_of(""), 0);
  EXPECT_EQ(slot_of("123456789"), 12739);  // CRC16 0x31C3
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("somekey"), 11058);
  EXPECT_EQ(slot_of("foo{hash_tag}"), 2515);
  EXPECT_EQ(slot_of("bar{hash_tag}"), 2515);
}

TEST(SlotOf, HashTagIsTheFirstPairOfBracesIfItIsNotEmpty) {
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
  EXPECT_EQ(slot_of("{}{bar}"), 11272) << "the whole key";
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
  EXPECT_NE(slot_of("foo{bar"), slot_of("bar"));
  EXPECT_EQ(slot_of("}{a}"), slot_of("a"));
}

TEST(TagOfSlot, PutsAnotherKeyIntoTheSlot) {
  EXPECT_EQ(tag_of_slot("clicks"), "clicks");
  EXPECT_EQ(tag_of_slot("everseen:{a/0}:1.0"), "a/0");
  for (const std::string key : {"clicks", "{a}b", "foo{bar", "foo{{bar}}zap", "{}{bar}", "}{a}", "a}b", "}"})
    EXPECT_EQ(slot_of("other:{" + tag_of_slot(key) + "}:wait"), slot_of(key)) << key;
}

TEST(SlotMap, IsEmptyAtFirst) {
  const slot_map map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.owner(0), nullptr);
  EXPECT_EQ(map.owner(16383), nullptr);
}

TEST(SlotMap, ReadsRangesMastersAndReplicas) {
  const auto map = slot_map::from_reply(
      reply_of("*2\r\n"
               "*4\r\n:0\r\n:5\r\n*3\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n*3\r\n$1\r\nb\r\n:2\r\n$2\r\nid\r\n"
               "*3\r\n:7\r\n:16383\r\n*2\r\n$1\r\nc\r\n:3\r\n"),
      asked);
  ASSERT_TRUE(map);
  EXPECT_EQ(*map->owner(0), (endpoint{"a", 1}));
  EXPECT_EQ(*map->owner(5), (endpoint{"a", 1}));
  EXPECT_EQ(map->owner(6), nullptr);
  EXPECT_EQ(*map->owner(16383), (endpoint{"c", 3}));
  EXPECT_THAT(map->masters(), ElementsAre(endpoint{"a", 1}, endpoint{"c", 3}));
  EXPECT_THAT(map->members(), ElementsAre(endpoint{"a", 1}, endpoint{"b", 2}, endpoint{"c", 3}));
}

TEST(SlotMap, OmittedHostIsTheServerThatReplied) {
  for (const char* host : {"$-1\r\n", "$0\r\n\r\n", "$1\r\n?\r\n"}) {
    const auto map = slot_map::from_reply(
        reply_of("*1\r\n*3\r\n:0\r\n:0\r\n*2\r\n" + std::string(host) + ":42\r\n"), asked);
    ASSERT_TRUE(map);
    EXPECT_EQ(*map->owner(0), (endpoint{"10.0.0.9", 42}));
  }
}

TEST(SlotMap, RefusesRepliesThatClusterSlotsNeverSends) {
  for (const char* wire :
       {"*0\r\n", "$-1\r\n", "-ERR no\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:1\r\n:0\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:-1\r\n:0\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:0\r\n*2\r\n$1\r\na\r\n:65536\r\n", "*1\r\n*3\r\n:0\r\n:0\r\n*1\r\n$1\r\na\r\n"})
    EXPECT_FALSE(slot_map::from_reply(reply_of(wire), asked)) << wire;
}

TEST(SlotMap, OneSlotMoves) {
  slot_map map;
  map.assign(7, {"a", 1});
  map.assign(8, {"a", 1});
  map.assign(7, {"b", 2});
  EXPECT_EQ(*map.owner(7), (endpoint{"b", 2}));
  EXPECT_EQ(*map.owner(8), (endpoint{"a", 1}));
  EXPECT_THAT(map.masters(), ElementsAre(endpoint{"a", 1}, endpoint{"b", 2}));
}

}  // namespace
}  // namespace everseen::redis
