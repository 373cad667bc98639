#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/jobs/kafka/kafka_lanes.hpp"
#include "everseen/jobs/kafka/rdkafka_handle.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen::rdkafka {

/// A partition that this worker has, and its message queue.
struct assigned {
  std::string lane;
  std::string topic;
  std::int32_t partition = -1;
  std::uint64_t next = 0;     ///< offset of the next message
  bool at_end = false;        ///< as last reported; `next` is past all marks of transactions then
  bool ends_earlier = false;  ///< than noted: the leader has confirmed the reported end
  queue_handle messages{};
};

/// A member of a consumer group: its partitions, where they begin, and what it commits.
///
/// Each partition has its own queue instead of librdkafka's shared one. So the messages of a lost partition
/// vanish with its queue, and a batch comes from one lane without sorting. An event descriptor signals when
/// any queue, or the group, has something.
/// Threads: one, that of serve(); commit(), lag() and membership() from any.
class member {
 public:
  member(const kafka_url& where, std::string group);
  /// Leaves without committing, unless leave() was called.
  ~member();
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  using reached_positions = std::map<std::string, checkpoint, std::less<>>;
  /// Finds the topics and joins the group.
  void join(const reached_positions& reached);

  /// Handles what happened: partitions gained or lost, errors.
  /// @throws parameter_error, backend_error  a failure that ends the reading
  void serve();
  /// Waits until something happens, or until `limit`.
  void wait(std::chrono::milliseconds limit);

  [[nodiscard]] std::vector<assigned>& partitions_of_ours() noexcept { return ours_; }
  [[nodiscard]] kafka_lanes& lanes() noexcept { return lanes_; }
  [[nodiscard]] const kafka_lanes& lanes() const noexcept { return lanes_; }

  /// With until=end: whether everything that the topics had when this member joined is settled by the group,
  /// or read by this member.    @throws  as serve()
  [[nodiscard]] bool is_at_end();
  /// Whether the lane has no more than that from here on.    Threads: any, once join() has returned.
  [[nodiscard]] bool ends_at(std::string_view lane, std::uint64_t position) const;

  /// Handles an event of a partition's queue that is not a message.
  void take_error(assigned& from, const rd_kafka_message_t& told);
  /// Messages arrived. They may have been buffered here since before the brokers failed. So this restarts
  /// the time of an outage and does not end it.
  void heard() noexcept {
    if (away_since_) away_since_ = probed_ = clock::now();
  }

  /// Commits what is settled and not committed.
  enum class commit_mode : std::uint8_t { soon, now };
  void commit(commit_mode mode);
  /// A transaction commits instead.
  void commit_nothing() noexcept { commits_ = false; }
  void leave();

  /// The cluster's id; empty if the brokers give none.
  [[nodiscard]] const std::string& cluster() const noexcept { return cluster_; }
  /// @throws parameter_error  the checkpoint is of another cluster
  void must_be_of(const checkpoint& known) const;

  /// As source::warning_about().
  [[nodiscard]] std::string warning_about(std::string_view lane) const;

  [[nodiscard]] std::uint64_t lag() const;
  [[nodiscard]] rd_kafka_consumer_group_metadata_t* membership() const;

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool end(rd_kafka_t* client) const;
  static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*, void*);
  static void on_error(rd_kafka_t*, int, const char*, void*);
  static void on_commit(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*, void*);
  void take_commit(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& offsets);

  void note_begun();
  void note_ends();
  [[nodiscard]] bool is_read(const assigned& lane) const;
  void confirm_ends();
  [[nodiscard]] partition_list left_to_others() const;

  void gain(rd_kafka_topic_partition_list_t& gained);
  void lose(rd_kafka_topic_partition_list_t& lost);
  void open_queue(const rd_kafka_topic_partition_t& position, kafka_lanes::start_decider decider);
  [[nodiscard]] std::uint64_t start_of(const rd_kafka_topic_partition_t& position);
  void seek_past_gap(assigned& lane);
  void handle_error(rd_kafka_resp_err_t error, const char* message);
  void look();
  void probe();

  kafka_url where_;
  std::string group_;
  kafka_lanes lanes_{};
  std::vector<assigned> ours_{};
  reached_positions reached_{};
  std::string cluster_{};
  std::map<std::string, std::int32_t, std::less<>> partitions_{};  // of each topic, when it joined the group
  /// With start=latest: of each topic that the job has begun, the number of partitions that it has begun.
  std::map<std::string, std::int32_t, std::less<>> begun_{};
  /// With until=end: where the lanes ended when it joined the group, unless they had nothing to read.
  std::map<std::string, std::uint64_t, std::less<>> ends_{};
  std::set<std::string, std::less<>> done_{};  // of these, lanes that the group has committed to their end
  clock::time_point asked_{};
  std::exception_ptr failure_{};
  std::optional<clock::time_point> away_since_{};  // or suspected so
  clock::time_point probed_{};
  std::string away_why_{};
  bool greeted_ = false;  // a broker has answered
  bool leaving_ = false;
  bool must_look_ = false;     // for the topics: librdkafka has not found one
  bool has_gained_ = false;    // any partition so far
  bool was_assigned_ = false;  // its share, which may be empty
  std::atomic<bool> commits_ = true;
  std::mutex commit_order_{};
  int wakes_ = -1;
  client_handle client_{};
  queue_handle group_queue_{};  // declared after the client, so destroyed first
};

}  // namespace everseen::rdkafka
