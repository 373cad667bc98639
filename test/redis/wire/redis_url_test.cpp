#include "everseen/redis/wire/redis_url.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using topology = redis_url::topology;

std::string refusal_to_read(std::string_view url) {
  try {
    (void)parse_redis_url(url);
  } catch (const parameter_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(RedisUrl, HostAloneGetsTheDefaultPortAndOptions) {
  const auto url = parse_redis_url("redis://cache.example.com");
  EXPECT_EQ(url.shape, topology::one);
  EXPECT_THAT(url.endpoints, ElementsAre(endpoint{"cache.example.com", 6379}));
  redis_url plain;
  plain.endpoints = {{"cache.example.com", 6379}};
  EXPECT_EQ(url, plain);
}

TEST(RedisUrl, ReadsUserPasswordPortAndDatabase) {
  const auto url = parse_redis_url("redis://anna:s%40cr%2Fet@h:7000/12");
  EXPECT_EQ(url.user, "anna");
  EXPECT_EQ(url.password, "s@cr/et");
  EXPECT_EQ(url.endpoints.front(), (endpoint{"h", 7000}));
  EXPECT_EQ(url.db, 12U);
}

TEST(RedisUrl, PasswordNeedsNoUser) {
  const auto url = parse_redis_url("redis://:pw@h");
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, "pw");
}

TEST(RedisUrl, PasswordMayHoldEveryByte) {
  EXPECT_EQ(parse_redis_url("redis://:a:b#c%00%FF@h").password, std::string("a:b#c\0\xff", 7));
}

TEST(RedisUrl, SeveralHostsAreIndependentInstances) {
  const auto url = parse_redis_url("redis://a:1,b,[::1]:3/0");
  EXPECT_EQ(url.shape, topology::many);
  EXPECT_THAT(url.endpoints, ElementsAre(endpoint{"a", 1}, endpoint{"b", 6379}, endpoint{"::1", 3}));
}

TEST(RedisUrl, ReadsClusterAndTls) {
  EXPECT_EQ(parse_redis_url("redis+cluster://a:1").shape, topology::cluster);
  EXPECT_FALSE(parse_redis_url("redis+cluster://a:1,b:2").tls);
  EXPECT_TRUE(parse_redis_url("rediss+cluster://a:1").tls);
  const auto url = parse_redis_url("rediss://a?ca=/etc/ca.pem&cert=/c%20d&key=/k&server_name=redis.test");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.ca_file, "/etc/ca.pem");
  EXPECT_EQ(url.cert_file, "/c d");
  EXPECT_EQ(url.key_file, "/k");
  EXPECT_EQ(url.server_name, "redis.test");
}

TEST(RedisUrl, ReadsUnixSockets) {
  EXPECT_EQ(parse_redis_url("unix:/run/redis.sock").endpoints.front().unix_path, "/run/redis.sock");
  EXPECT_EQ(parse_redis_url("unix:///run/redis.sock").endpoints.front().unix_path, "/run/redis.sock");
  const auto url = parse_redis_url("unix:/a,/b%2Cc?db=3&password=x&user=u");
  EXPECT_EQ(url.shape, topology::many);
  EXPECT_EQ(url.endpoints[1].unix_path, "/b,c");
  EXPECT_EQ(url.db, 3U);
  EXPECT_EQ(url.password, "x");
}

TEST(RedisUrl, ReadsEveryOtherOption) {
  const auto url = parse_redis_url(
      "redis://"
      "h?connect_timeout=250ms&timeout=2s&retry_for=1m&commands=bitfield&prefix=my:app&wait=2&"
      "staleness=3s");
  EXPECT_EQ(url.connect_timeout, 250ms);
  EXPECT_EQ(url.timeout, 2s);
  EXPECT_EQ(url.retry_for, 60s);
  EXPECT_EQ(url.commands, command_kind::bitfield);
  EXPECT_EQ(url.prefix, "my:app");
  EXPECT_EQ(url.wait_replicas, 2U);
  EXPECT_EQ(url.staleness, 3s);
  EXPECT_EQ(parse_redis_url("redis://h?retry_for=0s").retry_for, 0ms);
  EXPECT_EQ(parse_redis_url("redis://h?retry_for=1.5min").retry_for, 90s);
}

TEST(RedisUrl, EndpointsAreWrittenAsTheyAreRead) {
  EXPECT_EQ(to_string(endpoint{"h", 1}), "h:1");
  EXPECT_EQ(to_string(endpoint{"::1", 1}), "[::1]:1");
  EXPECT_EQ(to_string(endpoint{.unix_path = "/s"}), "unix:/s");
}

TEST(RedisUrl, NamesOneZoneOfAnAddress) {
  EXPECT_EQ(parse_redis_url("redis://[fe80::1%25eth0.5]:5").endpoints.front().host, "fe80::1%eth0.5");
  EXPECT_THROW(parse_redis_url("redis://[fe80::1%25eth%2567]:5"), parameter_error);
}

TEST(RedisUrl, IsReadBackFromItsFormWithoutCredentials) {
  for (const char* text : {"redis://h:1/3?timeout=7s", "rediss+cluster://a:1,[::1]:2?ca=/x%20y",
                           "unix:/a%2C,/b?db=2&prefix=p%26q", "unix:////a",
                           "redis://"
                           "[fe80::1%25eth0]:5?commands=script&wait=1&staleness=2ms&retry_for=0ms&"
                           "connect_timeout=1ms"}) {
    const auto url = parse_redis_url(text);
    EXPECT_EQ(parse_redis_url(to_string(url)), url) << to_string(url);
  }
  EXPECT_EQ(to_string(parse_redis_url("redis://u:secret@h/1")), "redis://h:6379?db=1");
}

TEST(EverseenUrl, NamesOneServerWithTheOptionsOfAnyServer) {
  const auto url = parse_everseen_url("everseen://anna:pw@h/3?timeout=7s");
  EXPECT_TRUE(url.is_everseen);
  EXPECT_THAT(url.endpoints, ElementsAre(endpoint{"h", 6380}));
  EXPECT_EQ(url.user, "anna");
  EXPECT_EQ(url.db, 3U);
  EXPECT_EQ(url.timeout, 7s);
  EXPECT_TRUE(parse_everseen_url("everseens://h:1?ca=/x").tls);
  EXPECT_EQ(parse_everseen_url("everseen+unix:/run/s.sock?user=u&password=p").endpoints.front().unix_path,
            "/run/s.sock");
  EXPECT_EQ(name_of_server(url, url.endpoints.front()), "everseen at h:6380");
}

TEST(EverseenUrl, IsReadBackFromItsFormWithoutCredentials) {
  for (const char* text : {"everseen://h:1/3?timeout=7s", "everseens://[::1]:2?ca=/x%20y", "everseen+unix:/a",
                           "everseen+unix:////a"}) {
    const auto url = parse_everseen_url(text);
    EXPECT_EQ(parse_everseen_url(to_string(url)), url) << to_string(url);
  }
}

TEST(EverseenUrl, RefusesOptionsOfRedisAlone) {
  for (const char* text : {"everseen://a,b", "everseen+unix:/a,/b", "everseen://h?commands=script",
                           "everseen://h?prefix=x", "everseen://h?wait=1", "everseen://h?mirror=1Gi",
                           "everseen://h?ca=/x", "everseen:/h", "everseen+cluster://h", "redis://h"})
    EXPECT_THROW((void)parse_everseen_url(text), parameter_error) << text;
  EXPECT_THAT(refusal_to_read("everseen://h"), HasSubstr("a Redis URL begins with"));
  EXPECT_TRUE(is_everseen_url("everseen+unix:/a"));
  EXPECT_FALSE(is_everseen_url("redis://h"));
  EXPECT_FALSE(is_redis_url("everseen://h"));
}

TEST(RedisUrl, RefusesInvalidUrls) {
  for (const char* text : {"",
                           "http://h",
                           "redis:/h",
                           "redis://",
                           "redis://:1",
                           "redis://h:",
                           "redis://h:0",
                           "redis://h:65536",
                           "redis://h:1x",
                           "redis://h:-1",
                           "redis://a,,b",
                           "redis://a,a",
                           "redis://h h",
                           "redis://[::1",
                           "redis://[]",
                           "redis://[::1]x",
                           "redis://[gg::]",
                           "redis://::1",
                           "redis://h/x",
                           "redis://h/1/2",
                           "redis://h/-1",
                           "redis://h/1?db=1",
                           "redis+cluster://h/1",
                           "redis://h?",
                           "redis://h?timeout",
                           "redis://h?timeout=",
                           "redis://h?timeout=5",
                           "redis://h?timeout=0s",
                           "redis://h?timeout=25h",
                           "redis://h?timeout=18446744073709551615s",
                           "redis://h?timeout=1s&timeout=2s",
                           "redis://h?timeout=1s&",
                           "redis://h?tiemout=1s",
                           "redis://h?commands=fast",
                           "redis://h?commands=merge",
                           "redis://h?commands=module",
                           "redis://h?segment=1Mi",
                           "redis://h?wait=1001",
                           "redis://h?prefix=",
                           "redis://h?prefix=a%7Bb",
                           "redis://h?prefix=a%20b",
                           "redis://h?ca=/x",
                           "rediss://h?cert=/x",
                           "rediss://h?key=/x",
                           "rediss://h?ca=%00",
                           "redis://u@h",
                           "redis://u:@h",
                           "redis://u:p@h?user=v",
                           "redis://a,u:p@h",
                           "redis://:%4@h",
                           "redis://:%zz@h",
                           "unix:",
                           "unix:relative",
                           "unix:/a,",
                           "unix:/%00"})
    EXPECT_NE(refusal_to_read(text), "accepted") << text;
  EXPECT_NE(refusal_to_read("unix:/" + std::string(107, 'x')), "accepted");
  EXPECT_THAT(refusal_to_read("unix:/a,unix:/b"), HasSubstr("unix:/run/1.sock,/run/2.sock"));
}

TEST(RedisUrl, ReportsTheInvalidPart) {
  EXPECT_THAT(refusal_to_read("redis://h?tiemout=1s"), HasSubstr("'tiemout' is not an option"));
  EXPECT_THAT(refusal_to_read("redis://h:70000"), HasSubstr("the port of 'h'"));
  EXPECT_THAT(refusal_to_read("redis://h?timeout=5"),
              HasSubstr("timeout= has no known unit of time; give a time from 1ms to 1d"));
  EXPECT_THAT(refusal_to_read("redis://a:1,a:1"), HasSubstr("twice"));
}

TEST(RedisUrl, NoErrorShowsThePassword) {
  for (const char* text :
       {"redis://u:hush@h:x", "redis://u:hu/sh@h", "redis://u:hush?@h", "redis://u:hush",
        "redis://u:a@hush@h", "redis://h?password=hush&hush", "redis://h?password=a&hush=1",
        "redis://:%hush@h", "redis://hush@h", "redis://h?password=%hush", "redis://a:1,u:hush@b",
        "redis://u:hush@h?password=hush", "unix:/a?password=hush&x=hush", "redis://u:a,hush@h",
        "redis://u:hush@h/0?timeout=1", "unix:/a?x:hush@b", "redis://h?commands=hush"}) {
    EXPECT_NE(refusal_to_read(text), "accepted") << text;
    EXPECT_THAT(refusal_to_read(text), Not(HasSubstr("hush"))) << text;
  }
}

TEST(RedisUrl, ClusterGetsTheTimeThatItNeedsToReplaceAMaster) {
  constexpr auto node_timeout = 15s;  // unless configured
  EXPECT_GT(parse_redis_url("redis+cluster://h").retry_for, node_timeout + 5s);
  EXPECT_EQ(parse_redis_url("redis://h").retry_for, 10s);
  EXPECT_EQ(parse_redis_url("redis+cluster://h/?retry_for=1s").retry_for, 1s);
  for (const char* text : {"redis+cluster://h", "redis+cluster://h/?retry_for=10s"})
    EXPECT_EQ(parse_redis_url(to_string(parse_redis_url(text))), parse_redis_url(text)) << text;
}

}  // namespace
}  // namespace everseen::redis
