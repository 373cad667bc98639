#include "everseen/jobs/kafka/kafka_sink.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/jobs/kafka/rdkafka_producer.hpp"

namespace everseen {

namespace {

constexpr std::string_view id_property = "transactional.id";
/// How long to wait for news of the group, which is sharing out its partitions.
constexpr std::chrono::milliseconds pause_of_group{20};

/// A unique id. The group's generation already fences off workers that were left behind, and two workers
/// with one id would end each other's transactions.
std::string random_id(const std::string& job) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id = "everseen-" + job + '-';
  for (const std::uint8_t byte : image::random_filter_id()) {
    id += digits[byte >> 4];
    id += digits[byte & 15];
  }
  return id;
}

/// @param url  its transactional.id is removed, as it has no meaning without transactions
std::string take_id(kafka_url& url, const std::string& job, bool transactional) {
  const auto given =
      std::ranges::find(url.properties, id_property, &std::pair<std::string, std::string>::first);
  std::string id = given == url.properties.end() ? random_id(job) : given->second;
  if (given != url.properties.end()) url.properties.erase(given);
  return transactional ? id : std::string();
}

kafka_url checked(kafka_url url) {
  if (url.topics.size() != 1)
    throw parameter_error(to_string(url) + ": events go to one topic, as in kafka://host:9092/fresh");
  if (url.group || url.until_end)
    throw parameter_error(to_string(url) + ": group= and until= are for a source; write them after --from");
  return url;
}

rdkafka::partition_list offsets_of(std::span<const checkpoint> reached) {
  rdkafka::partition_list offsets(rd_kafka_topic_partition_list_new(static_cast<int>(reached.size())));
  for (const checkpoint& each : reached) {
    const auto [topic, partition] = rdkafka::lane_parts(each.lane);
    rd_kafka_topic_partition_list_add(offsets.get(), topic.c_str(), partition)->offset =
        static_cast<std::int64_t>(each.position);
  }
  return offsets;
}

}  // namespace

class kafka_sink::impl {
 public:
  impl(kafka_url url, const std::string& job, kafka_source* from)
      : from_(from), id_(take_id(url, job, from != nullptr)), producer_(url, id_) {
    if (from_ != nullptr) from_->commit_nothing();
  }

  void begin() {
    producer_.begin();
    if (from_ != nullptr) must_be_of(from_->cluster());
  }

  void put(const judged_batch& batch) {
    generations_.insert_or_assign(batch.from.lane, batch.from.generation);
    held kept{batch.from.lane, batch.from.memory, {}};
    for (std::size_t i = 0; i < batch.from.records.size(); ++i)
      if (batch.goes_out(i)) kept.records.push_back(batch.from.records[i]);
    if (kept.records.empty()) return;
    begin_if_needed();
    held_.push_back(std::move(kept));
    produce(held_.back());
  }

  /// The membership is read before the source is asked. If a lane is lost between that and the commit, the
  /// group has a new generation, and Kafka refuses the offsets.
  void leave_lost(std::map<std::string, checkpoint, std::less<>>& reached) {
    if (from_ == nullptr) return;
    membership_.reset(from_->membership());
    std::size_t left = 0;
    std::erase_if(generations_, [&](const auto& entry) {
      const auto& [lane, generation] = entry;
      if (from_->ownership_of(lane, generation) != source::ownership::gone) return false;
      reached.erase(lane);
      left += std::erase_if(held_, [&of = lane](const held& each) { return each.lane == of; });
      return true;
    });
    if (left > 0) abort_if_open();
  }

  void commit(std::span<const checkpoint> reached) {
    if (from_ == nullptr)
      producer_.flush();
    else
      commit_transaction(reached);
    held_.clear();
    generations_.clear();
  }

  /// Part of a transaction's time limit has passed before the store became unavailable.
  void store_is_unavailable(std::chrono::milliseconds lasted) noexcept {
    const std::lock_guard lock(away_);  // a store of several servers waits for each of them
    if (lasted * 4 > producer_.transaction_limit()) give_up();
  }

  [[nodiscard]] std::chrono::milliseconds transaction_limit() const { return producer_.transaction_limit(); }

  /// Another attempt puts what was not committed; readers must not wait for its transaction.
  void give_up() noexcept {
    try {
      abort_if_open();
    } catch (const error&) {  // then Kafka ends it after its timeout
    }
  }

 private:
  /// Records that are being sent, and the memory that holds them.
  struct held {
    std::string lane;
    std::shared_ptr<const void> memory;
    std::vector<source_record> records;
  };

  /// A transaction takes offsets of its own cluster only.
  void must_be_of(const std::string& source) const {
    const std::string ours = producer_.cluster();
    if (source.empty() || ours.empty() || source == ours) return;
    throw parameter_error(
        to_string(producer_.where()) + " is the cluster " + ours + ", and the source is " + source +
        ": no transaction of Kafka is in two clusters; write the output to a topic of the source's "
        "cluster, and mirror that topic");
  }

  /// The records of an aborted transaction come first.
  void begin_if_needed() {
    if (from_ == nullptr || open_) return;
    producer_.begin_transaction();
    open_ = true;
    for (const held& each : held_) produce(each);
  }

  void abort_if_open() {
    if (!open_) return;
    producer_.abort();
    open_ = false;
  }

  void produce(const held& all) {
    for (std::size_t i = 0; i < all.records.size(); ++i) {
      producer_.produce(all.records[i]);
      if (i == all.records.size() / 2) fault_point("half_put");
    }
  }

  void commit_transaction(std::span<const checkpoint> reached) {
    const auto offsets = offsets_of(reached);
    const auto end = std::chrono::steady_clock::now() + producer_.where().retry_for;
    begin_if_needed();
    if (!membership_) membership_.reset(from_->membership());
    using result = rdkafka::producer::result;
    for (;;) {
      const result came = producer_.commit(*offsets, membership_);
      if (came == result::committed) break;
      abort_if_open();
      if (std::chrono::steady_clock::now() >= end)
        throw backend_error(to_string(producer_.where()) +
                            ": Kafka aborts every transaction: " + producer_.why());
      if (came == result::left_behind) follow_group();
      begin_if_needed();
    }
    open_ = false;
    membership_.reset();
  }

  /// Any worker that joins or leaves gives the group a new generation, and Kafka refuses offsets of the one
  /// before. The lanes are mostly still this worker's. It learns of the new generation only after it has
  /// given up the lanes that it lost: so the lanes that it has then are its own in that generation.
  void follow_group() {
    std::this_thread::sleep_for(pause_of_group);
    membership_.reset(from_->membership());
    for (const auto& [lane, generation] : generations_)
      if (from_->ownership_of(lane, generation) == source::ownership::gone)
        throw backend_error(to_string(producer_.where()) +
                            ": the consumer group has given this worker's partitions to others in the "
                            "meantime; nothing is lost: start it again (" +
                            producer_.why() + ")");
  }

  kafka_source* from_;
  std::string id_;
  std::vector<held> held_{};                            // outlives the producer, which reads it
  std::map<std::string, std::uint64_t> generations_{};  // of the lanes that were put since the last commit
  rdkafka::group_metadata membership_{};                // as of leave_lost()
  bool open_ = false;                                   // a transaction is open
  std::mutex away_{};
  rdkafka::producer producer_;
};

kafka_sink::kafka_sink(const kafka_url& url, const std::string& job, kafka_source* from)
    : impl_(std::make_unique<impl>(checked(url), job, from)) {}
kafka_sink::~kafka_sink() {
  impl_->give_up();
}

void kafka_sink::begin(std::string_view /*note*/) {
  impl_->begin();
}

void kafka_sink::put(const judged_batch& batch) {
  impl_->put(batch);
}

void kafka_sink::leave_lost(std::map<std::string, checkpoint, std::less<>>& reached) {
  impl_->leave_lost(reached);
}

void kafka_sink::store_is_unavailable(std::chrono::milliseconds lasted) noexcept {
  impl_->store_is_unavailable(lasted);
}

std::chrono::milliseconds kafka_sink::transaction_limit() const {
  return impl_->transaction_limit();
}

std::string kafka_sink::commit(std::span<const checkpoint> reached) {
  impl_->commit(reached);
  return {};
}

}  // namespace everseen
