#pragma once

#include <memory>
#include <string>

#include "everseen/jobs/kafka/kafka_url.hpp"
#include "everseen/jobs/port/source.hpp"

struct rd_kafka_consumer_group_metadata_s;

namespace everseen {

/// Topics of Kafka, read as a member of a consumer group. A lane is a partition, as `clicks/3`; a position
/// is an offset.
///
/// It resumes at the later of the ledger's settled position and the group's committed offset, and reads only
/// committed messages. Offsets are committed after their events are settled, never before. If a partition no
/// longer has that offset, because its topic was recreated or retention deleted it, that is an error and
/// never a silent jump; `gap=skip` allows the latter. Progress of the ledger on another cluster is an error,
/// too. With start=latest, a lane's start is committed before it is read.
///
/// Rebalancing is cooperative-sticky: a worker that loses a partition releases it when all that it claimed
/// there is settled. `until=end` ends when the group has settled, or this worker has read, all that the
/// topics had when it joined; rdkafka_member.cpp says how that is known.
///
/// Unavailable brokers are retried for `retry_for`. Payloads are copied once, into memory that the batch
/// owns: so librdkafka's buffers are freed immediately, and a record has its padding.
/// Cost: see doc/measurements.md. Threads: as for source; librdkafka has threads of its own.
class kafka_source : public source {
 public:
  /// Opens no connection.
  /// @param group  used if the URL names none
  /// @throws parameter_error  properties that librdkafka does not accept
  kafka_source(const kafka_url& url, const std::string& group);
  ~kafka_source() override;

  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) override;
  [[nodiscard]] state next(source_batch& into, std::chrono::milliseconds wait) override;
  [[nodiscard]] checkpoint reached(const source_batch& batch) override;
  /// @throws parameter_error  it is of another cluster
  void must_be_of(const checkpoint& known) const override;
  [[nodiscard]] std::string warning_about(std::string_view lane) const override;
  void settled(std::span<const checkpoint> settlements) override;
  [[nodiscard]] ownership ownership_of(std::string_view lane, std::uint64_t generation) const override;
  void keep_alive() override;
  void abandoned(const source_batch& batch) override;
  void finish() override;
  [[nodiscard]] std::optional<std::uint64_t> lag() const override;

  /// The cluster's id, once begin() has returned; empty if the brokers give none.
  [[nodiscard]] const std::string& cluster() const noexcept;

  /// From now on this source commits no offsets: a transaction includes them, or nothing may change.
  void commit_nothing() noexcept;
  /// The group and this worker's membership in it, as a transaction must name them. The caller destroys it.
  [[nodiscard]] rd_kafka_consumer_group_metadata_s* membership() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen
