#pragma once

#include "test/support/crash_matrix/crash_matrix.hpp"
#include "test/support/kafka/kafka_cluster.hpp"
#include "test/support/kafka/kafka_relay.hpp"

/// Kafka and Redis streams as sources and sinks of the crash matrix.
namespace everseen::test {

/// A stream of the store's own server; each run has its own group.
[[nodiscard]] matrix_source from_redis_stream();
/// Each event once.
[[nodiscard]] matrix_sink to_redis_stream();

/// Brokers, and the relay in front of them.
struct kafka_brokers {
  kafka_cluster cluster{};
  kafka_relay relay{cluster};
};
/// A topic of eight partitions, so that a job has eight lanes. The brokers outlive the source.
[[nodiscard]] matrix_source from_kafka(kafka_brokers& kafka);
/// From Kafka: each event once, for readers of committed messages.
[[nodiscard]] matrix_sink to_kafka(kafka_brokers& kafka);
/// From other sources: each event at least once.
[[nodiscard]] matrix_sink to_kafka_without_transactions(kafka_brokers& kafka);

}  // namespace everseen::test
