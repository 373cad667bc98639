#include "everseen/stream/kafka_sink.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/core/image.hpp"
#include "everseen/stream/rdkafka_producer.hpp"

namespace everseen {

namespace {

constexpr std::string_view id_property = "transactional.id";

/// An id that nobody else has: the group's generation keeps those out that were left behind, and an id that
/// two share would make each end the other.
std::string random_id(const std::string& job) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id = "everseen-" + job + '-';
  for (const std::uint8_t byte : image::random_filter_id()) {
    id += digits[byte >> 4];
    id += digits[byte & 15];
  }
  return id;
}

/// @param url  loses its transactional.id, which has no meaning outside of transactions
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
    throw parameter_error(to_string(url) + ": group= and until= are for a source; write them behind --from");
  return url;
}

rdkafka::partition_list offsets_of(std::span<const checkpoint> reached) {
  rdkafka::partition_list offsets(rd_kafka_topic_partition_list_new(static_cast<int>(reached.size())));
  for (const checkpoint& each : reached) {
    const auto [topic, partition] = rdkafka::lane_parts(each.source);
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

  void begin() { producer_.begin(); }

  void put(const judged_batch& batch) {
    held kept{batch.from.memory, {}};
    for (std::size_t i = 0; i < batch.from.records.size(); ++i)
      if (batch.goes_out(i)) kept.records.push_back(batch.from.records[i]);
    if (kept.records.empty()) return;
    held_.push_back(std::move(kept));
    begin_if_needed();
    produce(held_.back());
  }

  void commit(std::span<const checkpoint> reached) {
    if (from_ == nullptr)
      producer_.flush();
    else
      commit_transaction(reached);
    held_.clear();
  }

 private:
  /// Records that are on their way, and the memory that they lie in.
  struct held {
    std::shared_ptr<const void> memory;
    std::vector<source_record> records;
  };

  void begin_if_needed() {
    if (from_ == nullptr || std::exchange(open_, true)) return;
    producer_.begin_transaction();
  }

  void produce(const held& all) {
    for (const source_record& each : all.records) producer_.produce(each);
  }

  void commit_transaction(std::span<const checkpoint> reached) {
    const auto offsets = offsets_of(reached);
    const auto end = std::chrono::steady_clock::now() + producer_.where().retry_for;
    begin_if_needed();
    while (!producer_.commit(*offsets, rdkafka::group_metadata(from_->membership()))) {
      producer_.abort();
      if (std::chrono::steady_clock::now() >= end)
        throw backend_error(to_string(producer_.where()) +
                            ": Kafka aborts every transaction: " + producer_.why());
      producer_.begin_transaction();
      for (const held& each : held_) produce(each);
    }
    open_ = false;
  }

  kafka_source* from_;
  std::string id_;
  std::vector<held> held_{};  // outlives the producer, which reads it
  bool open_ = false;         // a transaction is
  rdkafka::producer producer_;
};

kafka_sink::kafka_sink(const kafka_url& url, const std::string& job, kafka_source* from)
    : impl_(std::make_unique<impl>(checked(url), job, from)) {}
kafka_sink::~kafka_sink() = default;

void kafka_sink::begin(std::string_view /*note*/) {
  impl_->begin();
}

void kafka_sink::put(const judged_batch& batch) {
  impl_->put(batch);
}

std::string kafka_sink::commit(std::span<const checkpoint> reached) {
  impl_->commit(reached);
  return {};
}

}  // namespace everseen
