#include "everseen/jobs/redis/redis_stream_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/redis/redis_stream_group.hpp"

namespace everseen {
namespace {

using ::testing::HasSubstr;

std::string refusal_of_stream(const std::string& url) {
  try {
    static_cast<void>(parse_redis_stream_url(url));
  } catch (const parameter_error& e) {
    return e.what();
  }
  return "none";
}

TEST(RedisStreamUrl, HasAStreamItsOptionsAndItsServer) {
  const auto url = parse_redis_stream_url(
      "redis-stream:a%40b?group=g&consumer=w1&start=latest&field=f&claim_after=2s&gap=skip&until=end"
      "@redis://:pw@h:7000/2");
  EXPECT_EQ(url.stream, "a@b");
  EXPECT_EQ(url.group, "g");
  EXPECT_EQ(url.consumer, "w1");
  EXPECT_TRUE(url.from_latest);
  EXPECT_EQ(url.field, "f");
  EXPECT_EQ(url.claim_after, std::chrono::seconds(2));
  EXPECT_TRUE(url.skip_gaps);
  EXPECT_TRUE(url.until_end);
  ASSERT_TRUE(url.server);
  EXPECT_EQ(url.server->password, "pw");
  EXPECT_EQ(url.server->db, 2U);
}

TEST(RedisStreamUrl, ServerIsThatOfTheStoreUnlessItIsNamed) {
  EXPECT_FALSE(parse_redis_stream_url("redis-stream:clicks").server);
  EXPECT_EQ(parse_redis_stream_url("redis-stream:fresh?maxlen=1000").max_length, 1000U);
}

TEST(RedisStreamUrl, InvalidPartsAreNamed) {
  EXPECT_THAT(refusal_of_stream("redis-stream:"), HasSubstr("name of the stream"));
  EXPECT_THAT(refusal_of_stream("redis-stream:a?gruop=g"), HasSubstr("group, consumer"));
  EXPECT_THAT(refusal_of_stream("redis-stream:a?group"), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(refusal_of_stream("redis-stream:a?group=a&group=b"), HasSubstr("twice"));
  EXPECT_THAT(refusal_of_stream("redis-stream:a?claim_after=1ms"), HasSubstr("100ms"));
  EXPECT_THAT(refusal_of_stream("redis-stream:a@http://x"), HasSubstr("redis://"));
  EXPECT_THAT(refusal_of_stream("redis-stream:a}b"), HasSubstr("braces"));
  EXPECT_THAT(refusal_of_stream("redis-stream:{}a"), HasSubstr("braces"));
}

TEST(RedisStreamUrl, KeysBesideAStreamAreInItsSlot) {
  EXPECT_EQ(key_beside("clicks", "job"), "{clicks}:everseen:job");
  EXPECT_EQ(key_beside("{clicks}:raw", "job"), "{clicks}:raw:everseen:job");
  EXPECT_EQ(key_beside("a{b}c{", "job"), "a{b}c{:everseen:job");
}

TEST(RedisStreamEntries, IdsAndPositionsHaveOneOrder) {
  using redis_stream::id_of;
  using redis_stream::position_of;
  EXPECT_EQ(id_of(*position_of("1700000000000-7")), "1700000000000-7");
  EXPECT_LT(*position_of("5-1048575"), *position_of("6-0"));
  EXPECT_FALSE(position_of("5-1048576"));
  EXPECT_FALSE(position_of("17592186044416-0"));
  EXPECT_FALSE(position_of("5"));
  EXPECT_FALSE(position_of("5-"));
  EXPECT_FALSE(position_of("-5"));
  EXPECT_FALSE(position_of("5-1-1"));
}

}  // namespace
}  // namespace everseen
