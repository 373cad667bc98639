#pragma once

#include "test/support/crash_matrix/crash_matrix.hpp"
#include "test/support/kafka/kafka_broker.hpp"

/// Kafka and Redis streams as sources and sinks of the crash matrix.
namespace everseen::test {

/// A stream of the store's own server; each run has its own group.
[[nodiscard]] matrix_source from_redis_stream();
/// Each event once.
[[nodiscard]] matrix_sink to_redis_stream();

/// A broker that several runs share, and the way of one of them to it.
struct kafka_way {
  kafka_broker& broker;
  kafka_broker::gate& gate;
};
/// A topic of eight partitions, so that a job has eight lanes. The broker outlives the source.
[[nodiscard]] matrix_source from_kafka(kafka_way kafka);
/// From Kafka: each event once, for readers of committed messages.
[[nodiscard]] matrix_sink to_kafka(kafka_way kafka);
/// From other sources: each event at least once.
[[nodiscard]] matrix_sink to_kafka_without_transactions(kafka_way kafka);

}  // namespace everseen::test
