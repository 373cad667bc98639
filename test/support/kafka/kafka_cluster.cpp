#include "test/support/kafka/kafka_cluster.hpp"

#include <array>
#include <stdexcept>

// The mock's header requires this one first.
#include <librdkafka/rdkafka.h>
// This comment stops clang-format from merging the blocks.
#include <librdkafka/rdkafka_mock.h>

namespace everseen::test {

namespace {

void check(bool good, const std::string& what) {
  if (!good) throw std::runtime_error("kafka_cluster: " + what);
}
void check(rd_kafka_resp_err_t error, const std::string& what) {
  check(error == RD_KAFKA_RESP_ERR_NO_ERROR, what + ": " + rd_kafka_err2str(error));
}

using settings = std::initializer_list<std::pair<const char*, std::string>>;

rd_kafka_t* make(rd_kafka_type_t type, settings with) {
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  std::array<char, 256> said{};
  rd_kafka_conf_set_log_cb(conf, nullptr);
  for (const auto& [name, value] : with)
    check(rd_kafka_conf_set(conf, name, value.c_str(), said.data(), said.size()) == RD_KAFKA_CONF_OK,
          said.data());
  rd_kafka_t* const made = rd_kafka_new(type, conf, said.data(), said.size());
  check(made != nullptr, said.data());
  return made;
}

struct ends_client {
  void operator()(rd_kafka_t* made) const { rd_kafka_destroy(made); }
};
using client = std::unique_ptr<rd_kafka_t, ends_client>;

std::string bytes(const void* at, std::size_t length) {
  return at == nullptr ? std::string() : std::string(static_cast<const char*>(at), length);
}

constexpr int timeout_ms = 20'000;

rd_kafka_headers_t* headers_of(const kafka_cluster::message& from) {
  rd_kafka_headers_t* const made = rd_kafka_headers_new(from.headers.size());
  for (const auto& [name, value] : from.headers)
    rd_kafka_header_add(made, name.data(), static_cast<ssize_t>(name.size()), value ? value->data() : nullptr,
                        value ? static_cast<ssize_t>(value->size()) : 0);
  return made;
}

std::vector<kafka_cluster::message::header> headers_of(const rd_kafka_message_t& told) {
  std::vector<kafka_cluster::message::header> found;
  rd_kafka_headers_t* all = nullptr;
  if (rd_kafka_message_headers(&told, &all) != RD_KAFKA_RESP_ERR_NO_ERROR) return found;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(all, i, &name, &value, &size) == 0; ++i)
    found.emplace_back(name, value == nullptr ? std::nullopt : std::optional(bytes(value, size)));
  return found;
}

kafka_cluster::message copy_of(const rd_kafka_message_t& told) {
  kafka_cluster::message found{bytes(told.payload, told.len)};
  if (told.key != nullptr) found.key = bytes(told.key, told.key_len);
  found.offset = told.offset;
  found.partition = told.partition;
  found.has_value = told.payload != nullptr;
  found.headers = headers_of(told);
  found.time_ms = rd_kafka_message_timestamp(&told, nullptr);
  return found;
}

}  // namespace

class kafka_cluster::impl {
 public:
  explicit impl(int brokers) : host(make(RD_KAFKA_PRODUCER, {})) {
    mock = rd_kafka_mock_cluster_new(host.get(), brokers);
    check(mock != nullptr, "no mock cluster");
    addresses = rd_kafka_mock_cluster_bootstraps(mock);
    producer.reset(make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", addresses},
                                            {"linger.ms", "1"},
                                            {"enable.idempotence", "true"},
                                            {"compression.codec", "lz4"},
                                            {"queue.buffering.max.messages", "2000000"}}));
  }
  ~impl() {
    producer.reset();
    rd_kafka_mock_cluster_destroy(mock);
  }

  [[nodiscard]] int partitions_of(const std::string& topic) const {
    rd_kafka_topic_t* const local = rd_kafka_topic_new(producer.get(), topic.c_str(), nullptr);
    const struct rd_kafka_metadata* told = nullptr;
    const auto error = rd_kafka_metadata(producer.get(), 0, local, &told, timeout_ms);
    rd_kafka_topic_destroy(local);
    check(error, "metadata");
    const int count = told->topic_cnt == 1 ? told->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(told);
    return count;
  }

  client host;
  rd_kafka_mock_cluster_t* mock = nullptr;
  std::string addresses;
  client producer;
};

kafka_cluster::kafka_cluster(int brokers) : impl_(std::make_unique<impl>(brokers)) {}
kafka_cluster::~kafka_cluster() = default;

std::string kafka_cluster::brokers() const {
  return impl_->addresses;
}

std::string kafka_cluster::url(std::string_view topic, std::string_view rest) const {
  return "kafka://" + impl_->addresses + '/' + std::string(topic) + std::string(rest);
}

void kafka_cluster::create_topic(const std::string& name, int partitions) {
  check(rd_kafka_mock_topic_create(impl_->mock, name.c_str(), partitions, 1), "create " + name);
}

void kafka_cluster::produce(const std::string& topic, std::int32_t partition,
                            const std::vector<message>& what) {
  rd_kafka_t* const to = impl_->producer.get();
  for (const message& each : what) {
    for (;;) {
      void* const value = each.has_value ? const_cast<char*>(each.value.data()) : nullptr;
      const void* const key = each.key ? each.key->data() : nullptr;
      rd_kafka_headers_t* const headers = headers_of(each);
      const auto error = rd_kafka_producev(
          to, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, each.value.size()),
          RD_KAFKA_V_KEY(key, each.key.value_or("").size()), RD_KAFKA_V_TIMESTAMP(each.time_ms),
          RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
      if (error != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
      if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_poll(to, 10);
        continue;
      }
      check(error, "produce");
      break;
    }
  }
  check(rd_kafka_flush(to, timeout_ms), "flush");
}

std::vector<kafka_cluster::message> kafka_cluster::read(const std::string& topic) const {
  const client reader(make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", impl_->addresses},
                                               {"group.id", "reader"},
                                               {"enable.auto.commit", "false"},
                                               {"enable.partition.eof", "true"},
                                               {"auto.offset.reset", "earliest"},
                                               {"fetch.wait.max.ms", "10"}}));
  rd_kafka_poll_set_consumer(reader.get());
  const int count = impl_->partitions_of(topic);
  rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(count);
  for (int i = 0; i < count; ++i)
    rd_kafka_topic_partition_list_add(all, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  check(rd_kafka_assign(reader.get(), all), "assign");
  rd_kafka_topic_partition_list_destroy(all);

  std::map<std::int32_t, std::vector<message>> found;
  for (int ended = 0; ended < count;) {
    rd_kafka_message_t* const told = rd_kafka_consumer_poll(reader.get(), timeout_ms);
    check(told != nullptr, "nothing to read");
    const auto error = told->err;
    if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF)
      ++ended;
    else if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
      found[told->partition].push_back(copy_of(*told));
    rd_kafka_message_destroy(told);
  }
  rd_kafka_consumer_close(reader.get());
  std::vector<message> flat;
  for (const auto& [partition, messages] : found) flat.insert(flat.end(), messages.begin(), messages.end());
  return flat;
}

std::map<std::int32_t, std::int64_t> kafka_cluster::committed(const std::string& group,
                                                              const std::string& topic) const {
  const client asker(make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", impl_->addresses}, {"group.id", group}}));
  const int count = impl_->partitions_of(topic);
  rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(count);
  for (int i = 0; i < count; ++i) rd_kafka_topic_partition_list_add(all, topic.c_str(), i);
  const auto error = rd_kafka_committed(asker.get(), all, timeout_ms);
  std::map<std::int32_t, std::int64_t> found;
  for (int i = 0; i < count; ++i)
    if (all->elems[i].offset >= 0) found[all->elems[i].partition] = all->elems[i].offset;
  rd_kafka_topic_partition_list_destroy(all);
  check(error, "committed");
  return found;
}

void kafka_cluster::fail_next(request kind, const std::vector<int>& errors) {
  std::vector<rd_kafka_resp_err_t> codes;
  for (const int each : errors) codes.push_back(static_cast<rd_kafka_resp_err_t>(each));
  rd_kafka_mock_push_request_errors_array(impl_->mock, static_cast<std::int16_t>(kind), codes.size(),
                                          codes.data());
}

void kafka_cluster::set_topic_error(const std::string& topic, int error) {
  rd_kafka_mock_topic_set_error(impl_->mock, topic.c_str(), static_cast<rd_kafka_resp_err_t>(error));
}

void kafka_cluster::set_down(int broker) {
  check(rd_kafka_mock_broker_set_down(impl_->mock, broker), "set_down");
}

void kafka_cluster::set_up(int broker) {
  check(rd_kafka_mock_broker_set_up(impl_->mock, broker), "set_up");
}

void kafka_cluster::offer_up_to(std::int16_t kind, std::int16_t newest) {
  check(rd_kafka_mock_set_apiversion(impl_->mock, kind, 0, newest), "set_apiversion");
}

void kafka_cluster::set_round_trip(std::chrono::milliseconds time, int broker) {
  check(rd_kafka_mock_broker_set_rtt(impl_->mock, broker, static_cast<int>(time.count())), "set_round_trip");
}

}  // namespace everseen::test
