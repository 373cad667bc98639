#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "everseen/store/ledger.hpp"
#include "everseen/stream/kafka_lanes.hpp"
#include "everseen/stream/rdkafka_handle.hpp"

namespace everseen::rdkafka {

/// A partition that this worker has, and the queue where its messages arrive.
struct assigned {
  std::string lane;
  std::string topic;
  std::int32_t partition = -1;
  std::uint64_t next = 0;  ///< offset of the next message
  bool at_end = false;     ///< as of the last that was heard of it
  queue_handle messages{};
};

/// A member of a consumer group: which partitions it has, where they begin, and what it commits.
///
/// Each partition has a queue of its own instead of the one that librdkafka would put them together in: so
/// what a lost partition left behind goes with its queue, and a batch is taken from one lane without sorting.
/// An event descriptor tells when any queue, or the group, has something.
/// Threads: one, that of serve(); commit(), lag() and membership() from any.
class member {
 public:
  member(const kafka_url& where, std::string group);
  /// Leaves without committing, unless leave() came before.
  ~member();
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  using reached_positions = std::map<std::string, checkpoint, std::less<>>;
  /// Finds the topics and joins the group.
  void join(const reached_positions& reached);

  /// Takes note of what happened: partitions that came or went, errors.
  /// @throws parameter_error, backend_error  something happened that ends the reading
  void serve();
  /// Waits until something happens, or for so long.
  void wait(std::chrono::milliseconds limit);

  [[nodiscard]] std::vector<assigned>& partitions_of_ours() noexcept { return ours_; }
  [[nodiscard]] kafka_lanes& lanes() noexcept { return lanes_; }
  [[nodiscard]] const kafka_lanes& lanes() const noexcept { return lanes_; }

  /// Something other than a message came out of a partition's queue.
  void take_error(assigned& from, const rd_kafka_message_t& told);
  /// Messages came. They may have waited here while the brokers went away: so it is the time of an outage
  /// that begins anew, and no end of it.
  void heard() noexcept {
    if (away_since_) away_since_ = probed_ = clock::now();
  }

  /// Commits what is settled and not committed.
  enum class way : std::uint8_t { soon, now };
  void commit(way how);
  /// A transaction commits instead.
  void commit_nothing() noexcept { commits_ = false; }
  void leave();

  /// Which brokers these are; empty where they do not say.
  [[nodiscard]] const std::string& cluster() const noexcept { return cluster_; }
  /// @throws parameter_error  what is known of a lane is of other brokers
  void must_be_of(const checkpoint& known) const;

  /// As source::doubt_about().
  [[nodiscard]] std::string doubt_about(std::string_view lane) const;

  [[nodiscard]] std::uint64_t lag() const;
  [[nodiscard]] rd_kafka_consumer_group_metadata_t* membership() const;

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool end(rd_kafka_t* client) const;
  static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*, void*);
  static void on_error(rd_kafka_t*, int, const char*, void*);
  static void on_commit(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*, void*);
  void take_commit(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& offsets);

  void gain(rd_kafka_topic_partition_list_t& gained);
  void lose(rd_kafka_topic_partition_list_t& lost);
  void open_queue(const rd_kafka_topic_partition_t& of, kafka_lanes::origin begun_at);
  [[nodiscard]] std::uint64_t start_of(const rd_kafka_topic_partition_t& of);
  void commit_starts(const rd_kafka_topic_partition_list_t& starts);
  void go_on_after_gap(assigned& lane);
  void note(rd_kafka_resp_err_t error, const char* said);
  void probe();

  kafka_url where_;
  std::string group_;
  kafka_lanes lanes_{};
  std::vector<assigned> ours_{};
  reached_positions reached_{};
  std::string cluster_{};
  std::map<std::string, std::int32_t, std::less<>> partitions_{};  // of each topic, when the group was joined
  std::exception_ptr failure_{};
  std::optional<clock::time_point> away_since_{};  // or perhaps away
  clock::time_point probed_{};
  std::string away_why_{};
  bool greeted_ = false;  // a broker has answered
  bool leaving_ = false;
  bool has_gained_ = false;    // a partition, ever
  bool was_assigned_ = false;  // its share, which may be nothing
  std::atomic<bool> commits_ = true;
  int wakes_ = -1;
  client_handle client_{};
  queue_handle group_queue_{};  // before the client: it ends first
};

}  // namespace everseen::rdkafka
