#include "everseen/stream/rdkafka_member.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "everseen/core/error.hpp"
#include "everseen/stream/rdkafka_offsets.hpp"

namespace everseen::rdkafka {

namespace {

constexpr int call_timeout_ms = 1'000;
/// How long a partition that goes is held back for what was claimed there. The group waits meanwhile.
constexpr std::chrono::seconds hand_over_limit{10};
constexpr std::chrono::seconds probe_interval{1};
/// How long the group is told that this worker leaves. If it cannot be told, it finds out.
constexpr std::chrono::seconds leave_limit{5};

/// Bounds memory: librdkafka's own limits are a partition's where each has a queue, and its defaults would
/// take 64 MB and 100,000 messages of each.
configuration configuration_of(const kafka_url& where, const std::string& group) {
  return configure(
      where,
      {{"client.id", "everseen"}, {"queued.min.messages", "20000"}, {"queued.max.messages.kbytes", "8192"}},
      {{"group.id", group},
       {"enable.auto.commit", "false"},
       {"enable.auto.offset.store", "false"},
       {"auto.offset.reset", "error"},
       {"isolation.level", "read_committed"},
       {"partition.assignment.strategy", "cooperative-sticky"},
       {"enable.partition.eof", where.until_end ? "true" : "false"}});
}

partition_list list_of(int room) {
  return partition_list(rd_kafka_topic_partition_list_new(room));
}

}  // namespace

member::member(const kafka_url& where, std::string group)
    : where_(where), group_(std::move(group)), wakes_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wakes_ < 0) throw storage_error(std::string("no eventfd: ") + std::strerror(errno), errno, "eventfd");
  try {
    configuration conf = configuration_of(where_, group_);
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    rd_kafka_conf_set_offset_commit_cb(conf.get(), on_commit);
    client_ = make(RD_KAFKA_CONSUMER, std::move(conf), where_);
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
  // Leaving in order is leave()'s: without brokers it could wait for ever.
  rd_kafka_destroy_flags(client_.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  ::close(wakes_);
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
  const partition_list topics = list_of(static_cast<int>(where_.topics.size()));
  for (const std::string& topic : where_.topics)
    rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = rd_kafka_subscribe(client_.get(), topics.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) raise(error, {}, where_);
}

void member::serve() {
  while (rd_kafka_message_t* told = rd_kafka_consumer_poll(client_.get(), 0)) {
    if (told->err != RD_KAFKA_RESP_ERR_NO_ERROR) note(told->err, rd_kafka_message_errstr(told));
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

void member::on_error(rd_kafka_t* client, int error, const char* said, void* opaque) {
  auto& self = *static_cast<member*>(opaque);
  auto code = static_cast<rd_kafka_resp_err_t>(error);
  std::array<char, 512> why{};
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    code = rd_kafka_fatal_error(client, why.data(), why.size());
    said = why.data();
    if (!self.failure_)
      self.failure_ = std::make_exception_ptr(backend_error(explain(code, said, self.where_)));
  }
  self.note(code, said);
}

/// An error outside of any partition. Those that librdkafka deals with itself are left to it.
void member::note(rd_kafka_resp_err_t error, const char* said) {
  if (said == nullptr) said = "";
  if (error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__RESOLVE) away_why_ = said;
  // A server that never spoke TLS will not begin to; one that did may be restarting.
  const bool hopeless = judge(error) == trouble::lasting || (error == RD_KAFKA_RESP_ERR__SSL && !greeted_);
  if (hopeless && !failure_) {
    try {
      raise(error, said, where_);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (judge(error) == trouble::outage && !away_since_) away_since_ = clock::now();
}

/// librdkafka says that all brokers are away, but not that they are back: that is asked for.
void member::probe() {
  const auto now = clock::now();
  if (now - probed_ < probe_interval) return;
  const struct rd_kafka_metadata* told = nullptr;
  const auto error = rd_kafka_metadata(client_.get(), 0, nullptr, &told, call_timeout_ms);
  probed_ = clock::now();
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(told);
    away_since_.reset();
  } else if (now - *away_since_ > where_.retry_for) {
    raise(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, away_why_, where_);
  }
}

/// What is not committed is read again, and recognised by the ledger: so an error changes no count. It is
/// committed the next time, for nothing is taken for committed that was not acknowledged.
void member::commit(way how) {
  const auto settled = lanes_.uncommitted();
  if (!commits_ || settled.empty()) return;
  const partition_list offsets = list_of(static_cast<int>(settled.size()));
  for (const auto& [lane, position] : settled) {
    const auto [name, partition] = lane_parts(lane);
    rd_kafka_topic_partition_list_add(offsets.get(), name.c_str(), partition)->offset =
        static_cast<std::int64_t>(position);
  }
  const auto error = rd_kafka_commit(client_.get(), offsets.get(), how == way::soon ? 1 : 0);
  if (how == way::now) take_commit(error, *offsets);
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
  commit(way::now);
  ours_.clear();
  const queue_handle last(rd_kafka_queue_new(client_.get()));
  const failure error(rd_kafka_consumer_close_queue(client_.get(), last.get()));
  const auto end = clock::now() + leave_limit;
  while (!error && rd_kafka_consumer_closed(client_.get()) == 0 && clock::now() < end)
    rd_kafka_queue_poll_callback(last.get(), 20);
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

// ---- partitions come and go

void member::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t what,
                          rd_kafka_topic_partition_list_t* which, void* opaque) {
  auto& self = *static_cast<member*>(opaque);
  try {  // nothing may be thrown through librdkafka
    if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
      self.gain(*which);
    else
      self.lose(*which);
  } catch (...) {
    if (!self.failure_) self.failure_ = std::current_exception();
  }
  rd_kafka_error_t* const error = what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
                                      ? rd_kafka_incremental_assign(client, which)
                                      : rd_kafka_incremental_unassign(client, which);
  if (const failure owned_error{error}; owned_error && !self.leaving_)
    self.note(rd_kafka_error_code(error), rd_kafka_error_string(error));
}

void member::gain(rd_kafka_topic_partition_list_t& gained) {
  read_committed(client_.get(), where_, gained);
  const partition_list starts = list_of(gained.cnt);
  for (int i = 0; i < gained.cnt; ++i) {
    rd_kafka_topic_partition_t& each = gained.elems[i];
    const bool is_new = each.offset < 0 && !reached_.contains(lane_name(each.topic, each.partition));
    each.offset = static_cast<std::int64_t>(start_of(each));
    if (is_new)
      rd_kafka_topic_partition_list_add(starts.get(), each.topic, each.partition)->offset = each.offset;
  }
  if (where_.start == kafka_url::start_at::latest) commit_starts(*starts);
  for (int i = 0; i < gained.cnt; ++i) open_queue(gained.elems[i]);
}

/// Where a lane began must be known before anything of it is read: the end of a partition is another one
/// after a crash, or a pause, and what came in between would be passed over.
void member::commit_starts(const rd_kafka_topic_partition_list_t& starts) {
  if (starts.cnt == 0) return;
  const auto error = rd_kafka_commit(client_.get(), &starts, 0);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) raise(error, {}, where_);
}

void member::open_queue(const rd_kafka_topic_partition_t& of) {
  assigned lane{lane_name(of.topic, of.partition), of.topic, of.partition,
                static_cast<std::uint64_t>(of.offset)};
  lane.messages.reset(rd_kafka_queue_get_partition(client_.get(), of.topic, of.partition));
  if (!lane.messages) return;
  rd_kafka_queue_forward(lane.messages.get(), nullptr);
  rd_kafka_queue_io_event_enable(lane.messages.get(), wakes_, "\1\0\0\0\0\0\0\0", 8);
  lanes_.begin(lane.lane, lane.next);
  ours_.push_back(std::move(lane));
}

/// Lets go of lanes: what was claimed there is settled first, what was not is never claimed.
void member::lose(rd_kafka_topic_partition_list_t& lost) {
  std::vector<std::string> going;
  for (int i = 0; i < lost.cnt; ++i) {
    going.push_back(lane_name(lost.elems[i].topic, lost.elems[i].partition));
    lanes_.lose(going.back());
    std::erase_if(ours_, [&](const assigned& each) { return each.lane == going.back(); });
  }
  // Somebody else may have them already: then there is nothing to wait for, and nothing to commit.
  const bool taken_away = rd_kafka_assignment_lost(client_.get()) != 0;
  if (!taken_away && !leaving_ && !failure_) {
    lanes_.wait_until_idle(going, hand_over_limit);
    commit(way::now);
  }
  for (const std::string& lane : going) lanes_.forget(lane);
}

// ---- where to begin

std::uint64_t member::start_of(const rd_kafka_topic_partition_t& of) {
  const std::string lane = lane_name(of.topic, of.partition);
  const auto known = reached_.find(lane);
  const std::uint64_t committed = of.offset >= 0 ? static_cast<std::uint64_t>(of.offset) : 0;
  if (of.offset >= 0 || known != reached_.end())
    return start_after_gap(client_.get(), where_, lane,
                           std::max(committed, known == reached_.end() ? 0 : known->second.position));
  const limits there = limits_of(client_.get(), where_, lane);
  // A partition that was made since begins with what came since.
  const auto counted = partitions_.find(of.topic);
  const bool is_young = counted != partitions_.end() && of.partition >= counted->second;
  return where_.start == kafka_url::start_at::earliest || is_young ? there.low : there.high;
}

void member::must_be_of(const checkpoint& known) const {
  if (known.note.empty() || cluster_.empty() || known.note == cluster_) return;
  throw parameter_error("the job has read " + known.source + " of the cluster " + known.note + ", and " +
                        to_string(where_) + " is the cluster " + cluster_ +
                        ": offsets there are others; count it under another --job");
}

void member::go_on_after_gap(assigned& lane) {
  const std::uint64_t start = start_after_gap(client_.get(), where_, lane.lane, lane.next);
  const partition_list where_to = list_of(1);
  rd_kafka_topic_partition_list_add(where_to.get(), lane.topic.c_str(), lane.partition)->offset =
      static_cast<std::int64_t>(start);
  const failure error(rd_kafka_seek_partitions(client_.get(), where_to.get(), call_timeout_ms));
  if (error) raise(rd_kafka_error_code(error.get()), rd_kafka_error_string(error.get()), where_);
  lane.next = start;
}

void member::take_error(assigned& from, const rd_kafka_message_t& told) {
  if (told.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    from.at_end = true;
  } else if (told.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
             told.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    go_on_after_gap(from);
  } else {
    note(told.err, rd_kafka_message_errstr(&told));
  }
}

}  // namespace everseen::rdkafka
