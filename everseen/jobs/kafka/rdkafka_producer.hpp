#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "everseen/jobs/kafka/rdkafka_handle.hpp"
#include "everseen/jobs/port/source.hpp"

namespace everseen::rdkafka {

/// Produces messages to one topic, and knows when all are acknowledged.
///
/// Payloads are not copied: the caller keeps them until flush() or abort() has returned.
/// Threads: one at a time.
class producer {
 public:
  /// @param transactional_id  empty: no transactions
  producer(const kafka_url& where, const std::string& transactional_id);

  /// Finds the topic, and ends the open transaction of an earlier worker with the same transactional.id.
  void begin();

  /// Waits while the queue is full.    @throws backend_error  too large, or nothing leaves the queue
  void produce(const source_record& record);
  /// Waits until all are acknowledged.    @throws backend_error  one was not
  void flush();

  void begin_transaction();
  enum class result : std::uint8_t {
    committed,
    aborted,     ///< it failed: abort it, and put all of it again
    left_behind  ///< the same; and the group has a later generation than this membership
  };
  /// Ends the transaction: its messages and these offsets of the group become visible atomically.
  /// @throws backend_error  a retry would not help
  [[nodiscard]] result commit(const rd_kafka_topic_partition_list_t& offsets, const group_metadata& group);
  void abort();

  /// The cluster's id; empty if the brokers give none.
  [[nodiscard]] std::string cluster() const;

  /// How long a transaction may be open before Kafka ends it.
  [[nodiscard]] std::chrono::milliseconds transaction_limit() const;

  /// Why the last commit() failed.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] const kafka_url& where() const noexcept { return where_; }

 private:
  using clock = std::chrono::steady_clock;
  enum class outcome : std::uint8_t { done, again, aborted, left_behind };

  static void on_delivery(rd_kafka_t*, const rd_kafka_message_t*, void*);
  static void on_error(rd_kafka_t*, int, const char*, void*);

  [[nodiscard]] outcome judge_step(rd_kafka_error_t* error);
  template <typename Step>
  outcome try_step(Step step);
  void check() const;

  kafka_url where_;
  bool transactional_;
  std::string why_{};
  std::exception_ptr failure_{};  // a failure that no retry can repair
  client_handle client_{};
  topic_handle topic_{};  // destroyed before the client
};

}  // namespace everseen::rdkafka
