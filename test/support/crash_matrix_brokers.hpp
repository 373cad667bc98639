#pragma once

#include "test/support/crash_matrix.hpp"
#include "test/support/kafka_cluster.hpp"

/// Kafka and Redis streams as sources and sinks of the crash matrix.
namespace everseen::test {

/// A stream of the store's own server; each run a group of its own.
[[nodiscard]] matrix_source from_redis_stream();
/// Each event once.
[[nodiscard]] matrix_sink to_redis_stream();

/// A topic of eight partitions, so that a job has as many lanes. The cluster outlives the source.
[[nodiscard]] matrix_source from_kafka(kafka_cluster& kafka);
/// Each event at least once: the mock shows what was aborted.
[[nodiscard]] matrix_sink to_kafka(kafka_cluster& kafka);

}  // namespace everseen::test
