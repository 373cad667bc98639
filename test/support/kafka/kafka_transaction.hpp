#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/support/kafka/kafka_client.hpp"

namespace everseen::test {

/// A transaction of a producer of its own. It stays open, also after this object, unless it is ended; then
/// Kafka aborts it after a minute. Threads: one.
class kafka_transaction {
 public:
  explicit kafka_transaction(const kafka_client& beside);
  ~kafka_transaction();
  kafka_transaction(const kafka_transaction&) = delete;
  kafka_transaction& operator=(const kafka_transaction&) = delete;

  /// All are in the topic when it returns.
  void produce(const std::string& topic, std::int32_t partition,
               const std::vector<kafka_client::message>& messages);
  /// Its end is in the topics when they return: Kafka acknowledges it before.
  void commit();
  void abort();

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
