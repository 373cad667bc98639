#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "test/jobs/kafka/kafka_reading.hpp"
#include "test/support/kafka/kafka_broker.hpp"

namespace everseen::test {

/// Tests that each have topics and a group of their own on a broker of Apache Kafka, and a network to it that
/// can be lost.
struct OwnTopics : ::testing::Test {
  void SetUp() override {
    kafka_broker::skip_test_without();
    if (!IsSkipped()) create();
  }
  void TearDown() override {
    if (!IsSkipped()) gate().mend();
  }
  /// Creates them.
  virtual void create() = 0;

  static kafka_client& kafka() { return kafka_broker::of_all().client(); }
  static kafka_broker::gate& gate() { return kafka_broker::of_all().gate_at(1); }
  static std::string own(const std::string& name) {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    return name + '-' + test->test_suite_name() + '-' + test->name();
  }
  static std::string clicks() { return own("clicks"); }
  static std::string lane(int partition) { return clicks() + '/' + std::to_string(partition); }
  static std::string group() { return own("group"); }
  /// Of a member of the group.
  static std::string words(std::string_view rest = "") {
    return "?group=" + group() + "&session.timeout.ms=6000&heartbeat.interval.ms=200&fetch.wait.max.ms=20" +
           std::string(rest);
  }
  static std::string clicks_url(std::string_view rest = "") {
    return kafka_broker::of_all().url(clicks(), words(rest));
  }
  static std::string clicks_behind_gate(std::string_view rest = "") {
    return gate().url(clicks(), words(rest));
  }
};

}  // namespace everseen::test
