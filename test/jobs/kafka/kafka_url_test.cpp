#include "everseen/jobs/kafka/kafka_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::string refusal_of_topic(const std::string& url) {
  try {
    static_cast<void>(parse_kafka_url(url));
  } catch (const parameter_error& e) {
    return e.what();
  }
  return "none";
}

TEST(KafkaUrl, HasBrokersTopicsAndDefaults) {
  const kafka_url url = parse_kafka_url("kafka://a:1,b,[::1]:3/clicks,views");
  EXPECT_EQ(url.brokers, "a:1,b:9092,[::1]:3");
  EXPECT_THAT(url.topics, ElementsAre("clicks", "views"));
  EXPECT_FALSE(url.group);
  EXPECT_EQ(url.start, kafka_url::start_at::earliest);
  EXPECT_FALSE(url.until_end);
  EXPECT_EQ(url.gap, kafka_url::gap_rule::fail);
}

TEST(KafkaUrl, OwnOptionsAreRead) {
  const kafka_url url =
      parse_kafka_url("kafka://h/t?group=a%26b&start=latest&until=end&gap=skip&retry_for=5s&config=/etc/k");
  EXPECT_EQ(url.group, "a&b");
  EXPECT_EQ(url.start, kafka_url::start_at::latest);
  EXPECT_TRUE(url.until_end);
  EXPECT_EQ(url.gap, kafka_url::gap_rule::skip);
  EXPECT_EQ(url.retry_for, std::chrono::seconds(5));
  EXPECT_EQ(url.config_file, "/etc/k");
}

TEST(KafkaUrl, OptionsWithADotAreForLibrdkafka) {
  const kafka_url url =
      parse_kafka_url("kafka://h/t?security.protocol=ssl&ssl.ca.location=/a%20b&property.debug=broker");
  EXPECT_THAT(url.properties, ElementsAre(Pair("security.protocol", "ssl"), Pair("ssl.ca.location", "/a b"),
                                          Pair("debug", "broker")));
}

TEST(KafkaUrl, PropertiesThatWouldBreakThePromiseAreRefusedWithAdvice) {
  EXPECT_THAT(refusal_of_topic("kafka://h/t?enable.auto.commit=true"),
              HasSubstr("when their events are settled"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?group.id=g"), HasSubstr("group="));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?isolation.level=read_uncommitted"),
              HasSubstr("committed messages"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?property.acks=1"), HasSubstr("all replicas"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?auto.offset.reset=latest"), HasSubstr("start=latest"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?partition.assignment.strategy=range"),
              HasSubstr("cooperative-sticky"));
}

TEST(KafkaUrl, InvalidPartsAreNamed) {
  EXPECT_THAT(refusal_of_topic("kafka://h"), HasSubstr("topic"));
  EXPECT_THAT(refusal_of_topic("kafka://h/"), HasSubstr("topic"));
  EXPECT_THAT(refusal_of_topic("kafka://h/a b"), HasSubstr("topic"));
  EXPECT_THAT(refusal_of_topic("kafka://h/a,a"), HasSubstr("twice"));
  EXPECT_THAT(refusal_of_topic("kafka:///t"), HasSubstr("host is missing"));
  EXPECT_THAT(refusal_of_topic("kafka://h:0/t"), HasSubstr("port"));
  EXPECT_THAT(refusal_of_topic("kafka://h:65536/t"), HasSubstr("port"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?group"), HasSubstr("needs a value"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?group="), HasSubstr("must not be empty"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?gruop=g"),
              AllOf(HasSubstr("'gruop'"), HasSubstr("group, start")));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?start=now"), HasSubstr("earliest or latest"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?group=a&group=b"), HasSubstr("twice"));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?group=%0"), HasSubstr("hexadecimal"));
  EXPECT_THAT(refusal_of_topic("http://h/t"), HasSubstr("begins with kafka://"));
}

TEST(KafkaUrl, SecretsAreNeverShown) {
  EXPECT_THAT(refusal_of_topic("kafka://me:hush@h/t"),
              AllOf(HasSubstr("sasl.password"), Not(HasSubstr("hush"))));
  EXPECT_THAT(refusal_of_topic("kafka://h/t?sasl.password=a&hush"), Not(HasSubstr("hush")));
  EXPECT_EQ(to_string(parse_kafka_url("kafka://h/t?sasl.password=hush")), "kafka://h:9092/t");
}

}  // namespace
}  // namespace everseen
