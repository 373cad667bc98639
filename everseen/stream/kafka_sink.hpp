#pragma once

#include <memory>
#include <string>

#include "everseen/stream/kafka_source.hpp"
#include "everseen/stream/kafka_url.hpp"
#include "everseen/stream/sink.hpp"

namespace everseen {

/// A topic of Kafka that gets the records which go out, each with the key that its source filed it under.
///
/// From a kafka_source, what is put between two commits is one transaction, and the offsets of the source's
/// group are part of it: whoever reads the topic with isolation.level=read_committed meets each event once,
/// whatever crashes. A transaction that Kafka gives up is aborted, and its records are put out again in the
/// next. From any other source a record may come twice after a crash; none is lost.
///
/// Kafka ends a transaction that its worker left behind only after transaction.timeout.ms (60 s), and until
/// then nobody reads what comes after it; a worker that begins with the same transactional.id ends it at
/// once. So give workers that are restarted under one name an id each: transactional.id=count-1 in the URL.
/// Threads: as sink has it.
class kafka_sink : public sink {
 public:
  /// Connects to nothing.
  /// @param from  whose offsets go with the transactions; null: another source, and no transactions. Outlives
  ///              the sink's last call
  /// @throws parameter_error  not one topic, or properties that librdkafka does not take
  kafka_sink(const kafka_url& url, const std::string& job, kafka_source* from);
  ~kafka_sink() override;

  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  /// From a kafka_source: aborts the transaction if records of a lost lane are in it, and puts the others
  /// again.
  void leave_lost(std::map<std::string, checkpoint, std::less<>>& reached) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;
  /// Aborts the transaction before Kafka does, which would end this worker, too.
  void store_is_away(std::chrono::milliseconds lasted) noexcept override;

  /// How long a transaction may be open: transaction.timeout.ms.
  [[nodiscard]] std::chrono::milliseconds transaction_limit() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen
