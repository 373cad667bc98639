#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/rdkafka_error.hpp"
#include "everseen/jobs/kafka/rdkafka_handle.hpp"
#include "everseen/jobs/kafka/rdkafka_member.hpp"

/// How a group member gains and loses partitions, and where they begin.
namespace everseen::rdkafka {

namespace {

/// Of a message: librdkafka asks for it again and again, or skips it. Of a connection the same codes mean
/// that what answers there is no broker.
bool is_unreadable(rd_kafka_resp_err_t error) noexcept {
  return error == RD_KAFKA_RESP_ERR_INVALID_MSG || error == RD_KAFKA_RESP_ERR__BAD_MSG ||
         error == RD_KAFKA_RESP_ERR__BAD_COMPRESSION || error == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED;
}

/// How long a lost partition is held back until its claimed events are settled. The group waits meanwhile.
constexpr std::chrono::seconds hand_over_limit{10};

}  // namespace

void member::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t code,
                          rd_kafka_topic_partition_list_t* which, void* opaque) {
  auto& self = *static_cast<member*>(opaque);
  try {  // no exception may pass through librdkafka
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      self.was_assigned_ = true;
      self.gain(*which);
    } else {
      self.lose(*which);
    }
  } catch (...) {
    if (!self.failure_) self.failure_ = std::current_exception();
  }
  rd_kafka_error_t* const error = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
                                      ? rd_kafka_incremental_assign(client, which)
                                      : rd_kafka_incremental_unassign(client, which);
  if (const failure owned_error{error}; owned_error && !self.leaving_)
    self.handle_error(rd_kafka_error_code(error), rd_kafka_error_string(error));
}

void member::gain(rd_kafka_topic_partition_list_t& gained) {
  read_committed(client_.get(), where_, gained);
  const partition_list starts = partition_list_of(gained.cnt);
  std::vector<kafka_lanes::start_decider> deciders;
  for (int i = 0; i < gained.cnt; ++i) {
    rd_kafka_topic_partition_t& each = gained.elems[i];
    deciders.push_back(each.offset > 0 ? kafka_lanes::start_decider::group : kafka_lanes::start_decider::job);
    const std::string lane = lane_name(each.topic, each.partition);
    const bool is_new = each.offset < 0 && !reached_.contains(lane);
    const std::int64_t committed = std::exchange(each.offset, static_cast<std::int64_t>(start_of(each)));
    // Of a lane without events up to its end, nothing else would be committed, and others may wait for that.
    if ((is_new && where_.start == kafka_url::start_at::latest) ||
        (committed < each.offset && ends_at(lane, static_cast<std::uint64_t>(each.offset))))
      rd_kafka_topic_partition_list_add(starts.get(), each.topic, each.partition)->offset = each.offset;
  }
  has_gained_ = has_gained_ || gained.cnt > 0;
  // Before anything is read. With start=latest: after a crash or a pause the end of a partition has moved,
  // and the messages in between would be skipped.
  if (starts->cnt > 0) write_committed(client_.get(), where_, *starts);
  for (int i = 0; i < gained.cnt; ++i) open_queue(gained.elems[i], deciders[static_cast<std::size_t>(i)]);
}

void member::open_queue(const rd_kafka_topic_partition_t& position, kafka_lanes::start_decider decider) {
  assigned lane{lane_name(position.topic, position.partition), position.topic, position.partition,
                static_cast<std::uint64_t>(position.offset)};
  lane.messages.reset(rd_kafka_queue_get_partition(client_.get(), position.topic, position.partition));
  if (!lane.messages) raise(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, {}, where_);
  rd_kafka_queue_forward(lane.messages.get(), nullptr);
  rd_kafka_queue_io_event_enable(lane.messages.get(), wakes_, "\1\0\0\0\0\0\0\0", 8);
  lanes_.begin(lane.lane, lane.next, decider);
  ours_.push_back(std::move(lane));
}

/// Releases lanes: claimed events are settled first, unclaimed ones are never claimed.
void member::lose(rd_kafka_topic_partition_list_t& lost) {
  std::vector<std::string> going;
  for (int i = 0; i < lost.cnt; ++i) {
    going.push_back(lane_name(lost.elems[i].topic, lost.elems[i].partition));
    lanes_.lose(going.back());
    std::erase_if(ours_, [&](const assigned& each) { return each.lane == going.back(); });
  }
  // Another worker may have them already: then there is nothing to wait for or to commit.
  const bool taken_away = rd_kafka_assignment_lost(client_.get()) != 0;
  if (!taken_away && !leaving_ && !failure_) {
    lanes_.wait_until_idle(going, hand_over_limit);
    commit(commit_mode::now);
  }
  for (const std::string& lane : going) lanes_.forget(lane);
}

// ---- where to begin

/// A partition that was added since the group began is read from its beginning, though no worker ran at that
/// time. Partitions are added behind the others, and all that there are begin together: so those are new that
/// lie behind every one that the group or the job has begun. If a worker is killed while the first ones begin
/// together, its own may seem new: better read than skipped. A group without offsets begins with all that
/// there are: how many had no event is not known.
void member::note_begun() {
  const auto note = [this](const std::string& topic, std::int32_t partition) {
    std::int32_t& count = begun_[topic];
    count = std::max(count, partition + 1);
  };
  const partition_list all = partition_list_of(0);
  for (const auto& [topic, count] : partitions_)
    for (std::int32_t partition = 0; partition < count; ++partition)
      rd_kafka_topic_partition_list_add(all.get(), topic.c_str(), partition);
  read_committed(client_.get(), where_, *all);
  for (int i = 0; i < all->cnt; ++i)
    if (all->elems[i].offset >= 0) note(all->elems[i].topic, all->elems[i].partition);
  for (const auto& [topic, count] : partitions_)
    if (!begun_.contains(topic)) note(topic, count - 1);
  for (const auto& [lane, known] : reached_) {
    const auto [topic, partition] = lane_parts(lane);
    if (partitions_.contains(topic)) note(topic, partition);
  }
}

std::uint64_t member::start_of(const rd_kafka_topic_partition_t& position) {
  const std::string lane = lane_name(position.topic, position.partition);
  const auto known = reached_.find(lane);
  // The group's offset follows the ledger. If it is ahead, the ledger's server has forgotten events, with
  // their keys and counters. Exception: in a transaction the group's offset is ahead. After the first
  // assignment, the ledger's positions here are outdated.
  if (known != reached_.end() && commits_ && !has_gained_)
    return start_after_gap(client_.get(), where_, lane, known->second.position);
  const std::uint64_t committed = position.offset >= 0 ? static_cast<std::uint64_t>(position.offset) : 0;
  if (position.offset >= 0 || known != reached_.end())
    return start_after_gap(client_.get(), where_, lane,
                           std::max(committed, known == reached_.end() ? 0 : known->second.position));
  const limits there = limits_of(client_.get(), where_, lane);
  const auto begun = begun_.find(position.topic);
  const bool is_young = begun != begun_.end() && position.partition >= begun->second;
  return where_.start == kafka_url::start_at::earliest || is_young ? there.low : there.high;
}

void member::must_be_of(const checkpoint& known) const {
  if (known.note.empty() || cluster_.empty() || known.note == cluster_) return;
  throw parameter_error("the job has read " + known.lane + " of the cluster " + known.note + ", and " +
                        to_string(where_) + " is the cluster " + cluster_ +
                        ": its offsets are different; count it under another --job");
}

/// Not rd_kafka_seek_partitions(): after such an error librdkafka has stopped to fetch the partition, and
/// seeks in none that it does not fetch. Assigned anew it keeps its queue.
void member::seek_past_gap(assigned& lane) {
  const std::uint64_t start = start_after_gap(client_.get(), where_, lane.lane, lane.next);
  const partition_list moved = partition_list_of(1);
  rd_kafka_topic_partition_list_add(moved.get(), lane.topic.c_str(), lane.partition)->offset =
      static_cast<std::int64_t>(start);
  for (const auto step : {rd_kafka_incremental_unassign, rd_kafka_incremental_assign})
    if (const failure error(step(client_.get(), moved.get())); error)
      raise(rd_kafka_error_code(error.get()), rd_kafka_error_string(error.get()), where_);
  lane.next = start;
  lane.at_end = lane.ends_earlier = false;
}

void member::take_error(assigned& from, const rd_kafka_message_t& told) {
  if (told.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    from.at_end = true;
    from.next = std::max(from.next, static_cast<std::uint64_t>(told.offset));
  } else if (told.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
             told.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    seek_past_gap(from);
  } else if (is_unreadable(told.err)) {
    throw backend_error(
        to_string(where_) + ": an event of " + from.lane +
        " is damaged, or compressed by what this librdkafka was built without; the events before "
        "it are counted (" +
        rd_kafka_message_errstr(&told) + ")");
  } else {
    handle_error(told.err, rd_kafka_message_errstr(&told));
  }
}

}  // namespace everseen::rdkafka
