#include "everseen/jobs/kafka/rdkafka_member.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/rdkafka_error.hpp"
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
  if (where_.start == kafka_url::start_at::latest) note_begun();
  if (where_.until_end) note_ends();
  const partition_list topics = partition_list_of(static_cast<int>(where_.topics.size()));
  for (const std::string& topic : where_.topics)
    rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = rd_kafka_subscribe(client_.get(), topics.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) raise(error, {}, where_);
}

void member::serve() {
  while (rd_kafka_message_t* told = rd_kafka_consumer_poll(client_.get(), 0)) {
    if (told->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      handle_error(told->err, rd_kafka_message_errstr(told));
    else if (!failure_)  // its partition has a queue for it, so its event would be missing there
      failure_ = std::make_exception_ptr(
          backend_error(to_string(where_) + ": a message of " + rd_kafka_topic_name(told->rkt) +
                        " arrived without a partition; nothing is lost: start the job again"));
    rd_kafka_message_destroy(told);
  }
  if (std::exchange(must_look_, false) && greeted_) look();
  if (away_since_) probe();
  if (failure_) std::rethrow_exception(failure_);
}

/// Brokers learn of topics and partitions one after the other, so one of them may know none yet.
/// @throws parameter_error  no broker knows a topic or a partition of ours for `longest_unknown`
void member::look() {
  find_topics(client_.get(), where_, [] {});
  for (const assigned& each : ours_) find_partition(client_.get(), where_, each.lane);
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
  if (is_unknown(error)) {
    must_look_ = true;
    return;
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
  // So that of two threads that commit, the later one does not commit less.
  std::unique_lock in_order(commit_order_, std::defer_lock);
  if (mode == commit_mode::soon) in_order.lock();
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

}  // namespace everseen::rdkafka
