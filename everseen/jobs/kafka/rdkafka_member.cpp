#include "everseen/jobs/kafka/rdkafka_member.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/rdkafka_handle.hpp"

namespace everseen::rdkafka {

namespace {

constexpr std::chrono::seconds probe_interval{1};
/// How long to try to leave the group in order. If that fails, the group notices by itself.
constexpr std::chrono::seconds leave_limit{5};

/// Bounds memory: librdkafka applies its limits to each partition with its own queue, and its defaults would
/// allow 64 MB each.
///
/// Once a queue has reached a limit, librdkafka fetches nothing for up to a second, even if the queue runs
/// empty. So until 2.2, where that time can be set, the queue must last for a second.
settings queue_limits() {
  constexpr int backoff_can_be_set = 0x02'02'00'00;
  if (rd_kafka_version() < backoff_can_be_set)
    return {{"queued.min.messages", "100000"}, {"queued.max.messages.kbytes", "16384"}};
  return {{"queued.min.messages", "20000"},
          {"queued.max.messages.kbytes", "8192"},
          {"fetch.queue.backoff.ms", "10"}};
}

configuration member_configuration(const kafka_url& where, const std::string& group) {
  settings defaults = queue_limits();
  defaults.emplace_back("client.id", "everseen");
  return configure(where, defaults,
                   {{"group.id", group},
                    {"enable.auto.commit", "false"},
                    {"enable.auto.offset.store", "false"},
                    {"auto.offset.reset", "error"},
                    {"isolation.level", "read_committed"},
                    {"partition.assignment.strategy", "cooperative-sticky"},
                    {"enable.partition.eof", "true"}});
}

}  // namespace

member::member(const kafka_url& where, std::string group)
    : where_(where), group_(std::move(group)), wakes_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wakes_ < 0) throw storage_error(std::string("no eventfd: ") + std::strerror(errno), errno, "eventfd");
  try {
    configuration conf = member_configuration(where_, group_);
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    rd_kafka_conf_set_offset_commit_cb(conf.get(), on_commit);
    client_ = create_client(RD_KAFKA_CONSUMER, std::move(conf), where_);
  } catch (...) {
    ::close(wakes_);
    throw;
  }
  rd_kafka_poll_set_consumer(client_.get());
  group_queue_.reset(rd_kafka_queue_get_consumer(client_.get()));
  rd_kafka_queue_io_event_enable(group_queue_.get(), wakes_, "\1\0\0\0\0\0\0\0", 8);
}

member::~member() {
  leaving_ = true;
  ours_.clear();
  group_queue_.reset();
  // a client that is left alone may still write to it
  if (end(client_.release())) ::close(wakes_);
}

/// An orderly exit is leave()'s task: without brokers it could wait indefinitely. So can this function
/// during a rebalance; and if the group never assigned this member anything, an assertion of librdkafka
/// (2.0) fails. Such a client is left alone: the group removes it when the process ends, or when it has not
/// polled for too long.
/// @return false  the client was left alone
bool member::end(rd_kafka_t* client) const {
  if (greeted_ && !was_assigned_) return false;
  std::promise<void> ended;
  const auto end = ended.get_future();
  std::thread([client, ended = std::move(ended)]() mutable {
    rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    ended.set_value();
  }).detach();
  return end.wait_for(leave_limit) == std::future_status::ready;
}

void member::join(const reached_positions& reached) {
  reached_ = reached;
  find_topics(client_.get(), where_, [this] { serve(); });
  greeted_ = true;
  cluster_ = cluster_of(client_.get());
  for (const auto& [lane, known] : reached_)
    if (std::ranges::find(where_.topics, lane_parts(lane).first) != where_.topics.end()) must_be_of(known);
  for (const std::string& topic : where_.topics)
    partitions_[topic] = partitions_of(client_.get(), where_, topic);
  if (where_.until_end) note_ends();
  const partition_list topics = partition_list_of(static_cast<int>(where_.topics.size()));
  for (const std::string& topic : where_.topics)
    rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = rd_kafka_subscribe(client_.get(), topics.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) raise(error, {}, where_);
}

void member::serve() {
  while (rd_kafka_message_t* told = rd_kafka_consumer_poll(client_.get(), 0)) {
    if (told->err != RD_KAFKA_RESP_ERR_NO_ERROR) handle_error(told->err, rd_kafka_message_errstr(told));
    rd_kafka_message_destroy(told);
  }
  if (away_since_) probe();
  if (failure_) std::rethrow_exception(failure_);
}

void member::wait(std::chrono::milliseconds limit) {
  pollfd ready = {wakes_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(limit.count(), 100))) <= 0) return;
  std::uint64_t events = 0;
  while (::read(wakes_, &events, sizeof events) > 0) continue;
}

void member::on_error(rd_kafka_t* /*client*/, int error, const char* message, void* opaque) {
  auto& self = *static_cast<member*>(opaque);
  if (!self.leaving_) self.handle_error(static_cast<rd_kafka_resp_err_t>(error), message);
}

/// Handles an error that concerns no partition. Errors that librdkafka handles itself are ignored.
///
/// It reports a fatal error twice, in either order: to its callback, and in place of a message.
void member::handle_error(rd_kafka_resp_err_t error, const char* message) {
  if (message == nullptr) message = "";
  std::array<char, 512> why{};
  const bool is_fatal = error == RD_KAFKA_RESP_ERR__FATAL;
  if (is_fatal) {
    error = rd_kafka_fatal_error(client_.get(), why.data(), why.size());
    message = why.data();
  }
  const trouble problem = judge(error);
  if (problem == trouble::outage) {
    if (error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) away_why_ = message;
    if (!away_since_) away_since_ = clock::now();
  }
  // A server that never spoke TLS will not start to; one that did may be restarting.
  const bool hopeless =
      is_fatal || problem == trouble::lasting || (error == RD_KAFKA_RESP_ERR__SSL && !greeted_);
  if (hopeless && !failure_) {
    try {
      raise(error, message, where_);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
}

/// Asks whether any broker answers as soon as one does not. librdkafka never reports that brokers are back,
/// and not always that all are down: a coordinator without an address counts as a down broker, but not as a
/// known one, so the last broker to fail can make the sum too large.
void member::probe() {
  const auto current = clock::now();
  if (current - probed_ < probe_interval) return;
  const struct rd_kafka_metadata* told = nullptr;
  const auto error = rd_kafka_metadata(client_.get(), 0, nullptr, &told, query_timeout_ms);
  probed_ = clock::now();
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(told);
    away_since_.reset();
  } else if (current - *away_since_ > where_.retry_for) {
    raise(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, away_why_, where_);
  }
}

/// Uncommitted events are read again and recognized by the ledger, so an error changes no count. The next
/// commit retries: only acknowledged offsets count as committed.
void member::commit(commit_mode mode) {
  const auto settled = lanes_.uncommitted();
  if (!commits_ || settled.empty()) return;
  const partition_list offsets = partition_list_of(static_cast<int>(settled.size()));
  for (const auto& [lane, position] : settled) {
    const auto [name, partition] = lane_parts(lane);
    rd_kafka_topic_partition_list_add(offsets.get(), name.c_str(), partition)->offset =
        static_cast<std::int64_t>(position);
  }
  const auto error = rd_kafka_commit(client_.get(), offsets.get(), mode == commit_mode::soon ? 1 : 0);
  if (mode == commit_mode::now) take_commit(error, *offsets);
}

void member::take_commit(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& offsets) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  for (int i = 0; i < offsets.cnt; ++i) {
    const rd_kafka_topic_partition_t& each = offsets.elems[i];
    if (each.err == RD_KAFKA_RESP_ERR_NO_ERROR && each.offset >= 0)
      lanes_.committed(lane_name(each.topic, each.partition), static_cast<std::uint64_t>(each.offset));
  }
}

void member::on_commit(rd_kafka_t* /*client*/, rd_kafka_resp_err_t error,
                       rd_kafka_topic_partition_list_t* offsets, void* opaque) {
  if (offsets != nullptr) static_cast<member*>(opaque)->take_commit(error, *offsets);
}

void member::leave() {
  leaving_ = true;
  commit(commit_mode::now);
  ours_.clear();
  const queue_handle last(rd_kafka_queue_new(client_.get()));
  const failure error(rd_kafka_consumer_close_queue(client_.get(), last.get()));
  const auto end = clock::now() + leave_limit;
  while (!error && rd_kafka_consumer_closed(client_.get()) == 0 && clock::now() < end)
    rd_kafka_queue_poll_callback(last.get(), 20);
}

/// With start=latest the user did not ask for earlier events, and another group would begin even later.
std::string member::warning_about(std::string_view lane) const {
  if (where_.start == kafka_url::start_at::latest) return {};
  const auto start = lanes_.start_by_group(lane);
  if (!start) return {};
  return "the consumer group " + group_ + " continues at offset " + std::to_string(*start) + " of " +
         std::string(lane) +
         ", where this job has settled nothing yet: earlier events are not counted here; to count them, "
         "give group= another name";
}

std::uint64_t member::lag() const {
  std::uint64_t waiting = 0;
  for (const auto& [lane, position] : lanes_.given()) {
    const auto [topic, partition] = lane_parts(lane);
    std::int64_t low = 0, high = 0;
    const auto error = rd_kafka_get_watermark_offsets(client_.get(), topic.c_str(), partition, &low, &high);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && high > static_cast<std::int64_t>(position))
      waiting += static_cast<std::uint64_t>(high) - position;
  }
  return waiting;
}

rd_kafka_consumer_group_metadata_t* member::membership() const {
  return rd_kafka_consumer_group_metadata(client_.get());
}

/// How a group member gains and loses partitions, and where they begin.

namespace {

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
  commit_starts(*starts);
  for (int i = 0; i < gained.cnt; ++i) open_queue(gained.elems[i], deciders[static_cast<std::size_t>(i)]);
}

/// Commits where lanes begin, before anything of them is read. With start=latest: after a crash or a pause
/// the end of a partition has moved, and the messages in between would be skipped.
void member::commit_starts(const rd_kafka_topic_partition_list_t& starts) {
  if (starts.cnt == 0) return;
  const auto error = rd_kafka_commit(client_.get(), &starts, 0);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) raise(error, {}, where_);
}

void member::open_queue(const rd_kafka_topic_partition_t& position, kafka_lanes::start_decider decider) {
  assigned lane{lane_name(position.topic, position.partition), position.topic, position.partition,
                static_cast<std::uint64_t>(position.offset)};
  lane.messages.reset(rd_kafka_queue_get_partition(client_.get(), position.topic, position.partition));
  if (!lane.messages) return;
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
  // A partition that was created since then is read from its beginning.
  const auto counted = partitions_.find(position.topic);
  const bool is_young = counted != partitions_.end() && position.partition >= counted->second;
  return where_.start == kafka_url::start_at::earliest || is_young ? there.low : there.high;
}

void member::must_be_of(const checkpoint& known) const {
  if (known.note.empty() || cluster_.empty() || known.note == cluster_) return;
  throw parameter_error("the job has read " + known.lane + " of the cluster " + known.note + ", and " +
                        to_string(where_) + " is the cluster " + cluster_ +
                        ": its offsets are different; count it under another --job");
}

void member::seek_past_gap(assigned& lane) {
  const std::uint64_t start = start_after_gap(client_.get(), where_, lane.lane, lane.next);
  const partition_list where_to = partition_list_of(1);
  rd_kafka_topic_partition_list_add(where_to.get(), lane.topic.c_str(), lane.partition)->offset =
      static_cast<std::int64_t>(start);
  const failure error(rd_kafka_seek_partitions(client_.get(), where_to.get(), query_timeout_ms));
  if (error) raise(rd_kafka_error_code(error.get()), rd_kafka_error_string(error.get()), where_);
  lane.next = start;
  lane.at_end = false;
}

void member::take_error(assigned& from, const rd_kafka_message_t& told) {
  if (told.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    from.at_end = true;
    from.next = std::max(from.next, static_cast<std::uint64_t>(told.offset));
  } else if (told.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
             told.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    seek_past_gap(from);
  } else {
    handle_error(told.err, rd_kafka_message_errstr(&told));
  }
}

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
  return lane.at_end || ends_at(lane.lane, lane.next);
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
  if (!where_.until_end || !was_assigned_ ||
      !std::ranges::all_of(ours_, [this](const assigned& each) { return is_read(each); }))
    return false;
  const partition_list open = left_to_others();
  if (open->cnt == 0) return true;
  if (clock::now() - asked_ < ask_interval) return false;
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
