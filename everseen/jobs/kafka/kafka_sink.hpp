#pragma once

#include <memory>
#include <string>

#include "everseen/jobs/kafka/kafka_source.hpp"
#include "everseen/jobs/kafka/kafka_url.hpp"
#include "everseen/jobs/port/sink.hpp"

namespace everseen {

/// A topic of Kafka for fresh records.
///
/// A record from Kafka goes out as it came in: key and value, each of which may be null or empty, headers
/// with their order and repetitions, and the time. Only its partition is chosen anew, by the key. An entry of
/// a Redis stream has the time of its id. The topic replaces times if message.timestamp.type=LogAppendTime.
///
/// From a kafka_source, the records put between two commits are one transaction, which includes the offsets
/// of the source's group. Readers of the topic with isolation.level=read_committed get each event once, even
/// across crashes. If Kafka fails a transaction, it is aborted, and the next one has its records. From any
/// other source a record may be repeated after a crash; none is lost.
///
/// After a crash, Kafka ends the open transaction of the worker only after transaction.timeout.ms (60 s),
/// and its readers wait until then. A worker that starts with the same transactional.id ends it immediately.
/// So give each worker that is restarted under one name its own id: transactional.id=count-1 in the URL.
/// Threads: as for sink.
class kafka_sink : public sink {
 public:
  /// Opens no connection.
  /// @param from  the source whose offsets the transactions include; null: another source, and no
  ///         transactions. It outlives the sink's last call
  /// @throws parameter_error  not exactly one topic, or properties that librdkafka does not accept
  kafka_sink(const kafka_url& url, const std::string& job, kafka_source* from);
  ~kafka_sink() override;

  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  /// From a kafka_source: if the transaction has records of a lost lane, aborts it and puts the other
  /// records again.
  void leave_lost(std::map<std::string, checkpoint, std::less<>>& reached) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;
  /// Aborts the transaction before Kafka does, which would also end this worker.
  void store_is_unavailable(std::chrono::milliseconds lasted) noexcept override;

  /// How long a transaction may be open: transaction.timeout.ms.
  [[nodiscard]] std::chrono::milliseconds transaction_limit() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen
