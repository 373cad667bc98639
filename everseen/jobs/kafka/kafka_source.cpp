#include "everseen/jobs/kafka/kafka_source.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/jobs/kafka/rdkafka_member.hpp"

namespace everseen {

namespace {

/// A claim waits for the store, which may sync its log to disk: at 10 ms, claims of 4,096 messages would be
/// 400,000 a second. The bytes are bounded by what librdkafka keeps of a partition.
constexpr std::size_t batch_messages = 16'384;
/// The shortest time between two offset commits: one request a partition and second would load a broker.
constexpr std::chrono::milliseconds commit_interval{500};

using messages = std::array<rd_kafka_message_t*, batch_messages>;

std::size_t bytes_of(std::span<rd_kafka_message_t* const> all) {
  std::size_t bytes = block_reader::padding;
  for (const rd_kafka_message_t* each : all) bytes += each->len + 1 + each->key_len;
  return bytes;
}

/// What a batch owns of its messages.
class copied_messages {
 public:
  explicit copied_messages(std::span<rd_kafka_message_t* const> all)
      : bytes_(std::make_unique_for_overwrite<char[]>(bytes_of(all))), end_(bytes_.get()) {
    envelopes_.reserve(all.size());  // records point to them
  }

  source_record add(rd_kafka_message_t& message) {
    const std::string_view bytes = keep(message.payload, message.len);
    *end_++ = '\0';  // what follows a record must not matter: field_reader
    record_envelope& envelope = envelopes_.emplace_back();
    envelope.has_value = message.payload != nullptr;
    if (message.key != nullptr) envelope.key = keep(message.key, message.key_len);
    envelope.time = std::chrono::milliseconds(rd_kafka_message_timestamp(&message, nullptr));
    if (rd_kafka_headers_t* headers = nullptr;
        rd_kafka_message_detach_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
      envelope.headers = headers_.emplace_back(headers).get();
    return {bytes, static_cast<std::uint64_t>(message.offset), &envelope};
  }
  void pad() { std::memset(end_, 0, block_reader::padding); }

 private:
  std::string_view keep(const void* bytes, std::size_t length) {
    if (length > 0) std::memcpy(end_, bytes, length);
    return {std::exchange(end_, end_ + length), length};
  }

  std::unique_ptr<char[]> bytes_;
  char* end_;
  std::vector<record_envelope> envelopes_{};
  std::vector<rdkafka::header_list> headers_{};
};

/// Copies messages into memory that the batch owns.
/// @param from  the offset of the first wanted message
void copy(std::span<rd_kafka_message_t* const> all, std::uint64_t from, source_batch& into) {
  const auto memory = std::make_shared<copied_messages>(all);
  into.records.reserve(all.size());
  for (rd_kafka_message_t* each : all)
    if (each->err == RD_KAFKA_RESP_ERR_NO_ERROR && static_cast<std::uint64_t>(each->offset) >= from)
      into.records.push_back(memory->add(*each));
  memory->pad();
  into.memory = memory;
}

}  // namespace

class kafka_source::impl {
 public:
  impl(const kafka_url& where, const std::string& group) : member_(where, group) {}

  rdkafka::member& as_member() noexcept { return member_; }

  state next(source_batch& into, std::chrono::milliseconds wait) {
    const auto end = clock::now() + wait;
    for (;;) {
      member_.serve();
      commit_if_due();
      if (member_.is_at_end()) return state::ended;  // first: a busy topic always has more
      if (take_from_any(into)) return state::records;
      const auto current = clock::now();
      if (current >= end) return state::nothing_yet;
      member_.wait(std::chrono::ceil<std::chrono::milliseconds>(end - current));
    }
  }

  void settled(std::span<const checkpoint> settlements) {
    for (const checkpoint& each : settlements) member_.lanes().settle(each.lane, each.position);
    const bool ends = std::ranges::any_of(
        settlements, [this](const checkpoint& each) { return member_.ends_at(each.lane, each.position); });
    if (ends) committed_ = clock::time_point{};
    commit_if_due();
  }

 private:
  using clock = std::chrono::steady_clock;

  /// Also while nothing is settled: what was settled within the interval, or a commit that failed.
  void commit_if_due() {
    const auto current = clock::now();
    if (current - committed_.load() < commit_interval) return;
    committed_ = current;
    member_.commit(rdkafka::member::commit_mode::soon);
  }

  /// Lanes take turns, so that a lane that never runs dry does not starve the others.
  bool take_from_any(source_batch& into) {
    auto& lanes = member_.partitions_of_ours();
    for (std::size_t tried = 0; tried < lanes.size(); ++tried) {
      current_ = (current_ + 1) % lanes.size();
      if (take_from(lanes[current_], into)) return true;
    }
    return false;
  }

  bool take_from(rdkafka::assigned& lane, source_batch& into) {
    const std::span all(taken_.data(), take_waiting(lane));
    if (all.empty()) return false;
    into.records.clear();
    const std::uint64_t before = lane.next;
    copy(all, before, into);
    if (!into.records.empty()) {
      member_.heard();
      lane.at_end = lane.ends_earlier = false;
      lane.next = into.records.back().position + 1;
    }
    const auto destroy_all = [&all] {
      for (rd_kafka_message_t* each : all) rd_kafka_message_destroy(each);
    };
    try {
      for (const rd_kafka_message_t* each : all)
        if (each->err != RD_KAFKA_RESP_ERR_NO_ERROR) member_.take_error(lane, *each);
    } catch (...) {
      destroy_all();
      throw;
    }
    destroy_all();
    // Without a batch for the marks of transactions and for skipped gaps, the settled offset would stay
    // before the end of a lane.
    if (into.records.empty() && lane.next == before) return false;
    into.lane = lane.lane;
    into.next = lane.next;
    into.ends = member_.ends_at(lane.lane, lane.next);
    const auto given = member_.lanes().give(lane.lane, into.next);
    into.generation = given.number;
    into.begins = given.begins;
    return true;
  }

  /// One by one: from librdkafka 2.2 on, rd_kafka_consume_batch_queue() counts the report of the end of a
  /// partition as a message. After the next rebalance it goes on behind a message that nobody has read, or
  /// behind the end, where it stands still (its issue 4844).
  std::size_t take_waiting(rdkafka::assigned& lane) {
    std::size_t count = 0;
    while (count < taken_.size()) {
      rd_kafka_message_t* const message = rd_kafka_consume_queue(lane.messages.get(), 0);
      if (message == nullptr) break;
      taken_[count++] = message;
    }
    return count;
  }

  rdkafka::member member_;
  messages taken_{};
  std::size_t current_ = 0;
  std::atomic<clock::time_point> committed_{};  // of the reading thread, and of the one that settles
};

kafka_source::kafka_source(const kafka_url& url, const std::string& group)
    : impl_(std::make_unique<impl>(url, url.group.value_or(group))) {}
kafka_source::~kafka_source() = default;

void kafka_source::begin(const std::map<std::string, checkpoint, std::less<>>& reached) {
  impl_->as_member().join(reached);
}

source::state kafka_source::next(source_batch& into, std::chrono::milliseconds wait) {
  return impl_->next(into, wait);
}

checkpoint kafka_source::reached(const source_batch& batch) {
  return {batch.lane, batch.next, impl_->as_member().cluster()};
}

void kafka_source::must_be_of(const checkpoint& known) const {
  impl_->as_member().must_be_of(known);
}

std::string kafka_source::warning_about(std::string_view lane) const {
  return impl_->as_member().warning_about(lane);
}

void kafka_source::settled(std::span<const checkpoint> settlements) {
  impl_->settled(settlements);
}

source::ownership kafka_source::ownership_of(std::string_view lane, std::uint64_t generation) const {
  return impl_->as_member().lanes().ownership_of(lane, generation);
}

void kafka_source::keep_alive() {
  impl_->as_member().serve();
}

void kafka_source::abandoned(const source_batch& batch) {
  impl_->as_member().lanes().abandon(batch);
}

void kafka_source::finish() {
  impl_->as_member().leave();
}

std::optional<std::uint64_t> kafka_source::lag() const {
  return impl_->as_member().lag();
}

const std::string& kafka_source::cluster() const noexcept {
  return impl_->as_member().cluster();
}

void kafka_source::commit_nothing() noexcept {
  impl_->as_member().commit_nothing();
}

rd_kafka_consumer_group_metadata_s* kafka_source::membership() const {
  return impl_->as_member().membership();
}

std::optional<std::string_view> record_envelope::header(const std::string& name) const {
  const void* value = nullptr;
  std::size_t size = 0;
  if (headers == nullptr || rd_kafka_header_get_last(headers, name.c_str(), &value, &size) != 0 ||
      value == nullptr)
    return std::nullopt;
  return std::string_view(static_cast<const char*>(value), size);
}

}  // namespace everseen
