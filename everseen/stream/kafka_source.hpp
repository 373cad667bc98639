#pragma once

#include <memory>
#include <string>

#include "everseen/stream/kafka_url.hpp"
#include "everseen/stream/source.hpp"

struct rd_kafka_consumer_group_metadata_s;

namespace everseen {

/// Topics of Kafka, read as a member of a consumer group. A lane is a partition, as `clicks/3`; a position is
/// an offset.
///
/// It begins at the later one of what the ledger has settled and of what the group has committed, and reads
/// committed messages alone. Offsets are committed after their events are settled, never before. Where a
/// partition has no such offset any more, because its topic was made anew or retention was faster than we,
/// that is an error and never a silent jump; `gap=skip` allows the latter. What the ledger knows of another
/// cluster is an error, too. With start=latest, where a lane began is committed before it is read.
///
/// Partitions change hands one by one (cooperative-sticky): a worker that loses one lets go of it when all
/// that it claimed there is settled. `until=end` ends when every partition was read to its end.
///
/// Brokers that are away are waited for, for `retry_for`. Payloads are copied once, into memory that the
/// batch owns: so librdkafka's buffers are free at once, and a record has its padding.
/// Cost: see doc/measurements.md. Threads: as source has it; librdkafka has some of its own.
class kafka_source : public source {
 public:
  /// Connects to nothing.
  /// @param group  where the URL names none
  /// @throws parameter_error  properties that librdkafka does not take
  kafka_source(const kafka_url& url, const std::string& group);
  ~kafka_source() override;

  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) override;
  [[nodiscard]] state next(source_batch& into, std::chrono::milliseconds wait) override;
  [[nodiscard]] checkpoint reached(const source_batch& batch) override;
  /// @throws parameter_error  it is of another cluster
  void must_be_of(const checkpoint& known) const override;
  [[nodiscard]] std::string doubt_about(std::string_view lane) const override;
  void settled(std::span<const checkpoint> put_down) override;
  [[nodiscard]] tenure tenure_of(std::string_view lane, std::uint64_t turn) const override;
  void keep_up() override;
  void abandoned(const source_batch& batch) override;
  void finish() override;
  [[nodiscard]] std::optional<std::uint64_t> lag() const override;

  /// From now on this source commits no offsets: a transaction carries them, or nothing is to change.
  void commit_nothing() noexcept;
  /// The group and this worker's membership in it, as a transaction must name them. The caller ends it.
  [[nodiscard]] rd_kafka_consumer_group_metadata_s* membership() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen
