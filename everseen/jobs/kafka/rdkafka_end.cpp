#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "everseen/jobs/kafka/rdkafka_handle.hpp"
#include "everseen/jobs/kafka/rdkafka_member.hpp"

/// When a member with until=end has ended.
///
/// The partitions that the group gave this member are not all: a member that crashed keeps its own until its
/// session ends, and a member may have none. So the end is that of the topics, and other members' progress is
/// what the group has committed. A member commits only what is settled, so a lane is done for everybody once
/// the committed offset has reached its end. A member waits for the others as long as that takes: if one
/// never returns, the group gives its partitions to those that wait.
///
/// The end is that for readers of committed messages: librdkafka asks for it with the isolation level of the
/// consumer, so it lies before the first open transaction. The marks of ended transactions lie before the end
/// and are no messages; librdkafka reports their offsets with the end of a partition (take_error()).
namespace everseen::rdkafka {

namespace {

/// How often a member that has read its own partitions asks how far the others are.
constexpr std::chrono::milliseconds ask_interval{250};

}  // namespace

/// A lane that this job has settled to its end is done, whatever its group has committed: a group may be new.
void member::note_ends() {
  for (const auto& [topic, count] : partitions_)
    for (std::int32_t partition = 0; partition < count; ++partition) {
      const std::string lane = lane_name(topic, partition);
      const limits there = limits_of(client_.get(), where_, lane);
      const auto known = reached_.find(lane);
      const bool is_settled = known != reached_.end() && known->second.position >= there.high;
      if (there.low < there.high && !is_settled) ends_.emplace(lane, there.high);
    }
}

bool member::ends_at(std::string_view lane, std::uint64_t position) const {
  const auto end = ends_.find(lane);
  return end != ends_.end() && position >= end->second;
}

/// What was added since this member joined is not waited for: a busy topic never ends.
bool member::is_read(const assigned& lane) const {
  return lane.ends_earlier || !ends_.contains(lane.lane) || ends_at(lane.lane, lane.next);
}

/// A replica that follows, or leads since a moment, may not know yet that messages before the noted end are
/// committed, and reports the end of the partition before them. The leader answers a question about the end
/// only once it knows. Behind the reported one there may be nothing: an unclean election cuts a partition.
void member::confirm_ends() {
  for (assigned& each : ours_) {
    if (!each.at_end || is_read(each)) continue;
    asked_ = clock::now();
    std::int64_t low = 0, high = 0;
    const auto error = rd_kafka_query_watermark_offsets(client_.get(), each.topic.c_str(), each.partition,
                                                        &low, &high, query_timeout_ms);
    each.ends_earlier = error == RD_KAFKA_RESP_ERR_NO_ERROR && each.next >= static_cast<std::uint64_t>(high);
  }
}

/// The lanes that others have, or that nobody has, and whose end the group is not known to have committed.
partition_list member::left_to_others() const {
  std::set<std::string_view> ours;
  for (const assigned& each : ours_) ours.insert(each.lane);
  partition_list open = partition_list_of(static_cast<int>(ends_.size()));
  for (const auto& [lane, end] : ends_) {
    if (done_.contains(lane) || ours.contains(lane)) continue;
    const auto [topic, partition] = lane_parts(lane);
    rd_kafka_topic_partition_list_add(open.get(), topic.c_str(), partition);
  }
  return open;
}

/// Before its first share a member knows nothing: a group that was moved by hand may have committed more than
/// this job has settled, and the member that gets these lanes begins with what is settled.
bool member::is_at_end() {
  if (!where_.until_end || !was_assigned_) return false;
  const bool may_ask = clock::now() - asked_ >= ask_interval;
  if (may_ask) confirm_ends();
  if (!std::ranges::all_of(ours_, [this](const assigned& each) { return is_read(each); })) return false;
  const partition_list open = left_to_others();
  if (open->cnt == 0) return true;
  if (!may_ask) return false;
  commit(commit_mode::soon);  // again, should it have failed: others may wait for this one
  const auto error = rd_kafka_committed(client_.get(), open.get(), query_timeout_ms);
  asked_ = clock::now();
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {  // also while a transaction with these offsets is open
    handle_error(error, {});
    return false;
  }
  for (int i = 0; i < open->cnt; ++i) {
    const rd_kafka_topic_partition_t& each = open->elems[i];
    const std::string lane = lane_name(each.topic, each.partition);
    if (each.err == RD_KAFKA_RESP_ERR_NO_ERROR && each.offset >= 0 &&
        ends_at(lane, static_cast<std::uint64_t>(each.offset)))
      done_.insert(lane);
  }
  return left_to_others()->cnt == 0;
}

}  // namespace everseen::rdkafka
