#include "test/support/kafka/kafka_cluster.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

// The mock's header requires this one first.
#include <librdkafka/rdkafka.h>
// This comment stops clang-format from merging the blocks.
#include <librdkafka/rdkafka_mock.h>

#include "test/support/loopback.hpp"

namespace everseen::test {

namespace {

void check_mock(bool good, const std::string& action) {
  if (!good) throw std::runtime_error("kafka_cluster: " + action);
}
void check_mock(rd_kafka_resp_err_t error, const std::string& action) {
  check_mock(error == RD_KAFKA_RESP_ERR_NO_ERROR, action + ": " + rd_kafka_err2str(error));
}

/// The client that a mock cluster lives in.
rd_kafka_t* host_of_mock() {
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, nullptr);
  std::array<char, 256> message{};
  rd_kafka_t* const made = rd_kafka_new(RD_KAFKA_PRODUCER, conf, message.data(), message.size());
  check_mock(made != nullptr, message.data());
  return made;
}

struct ends_host {
  void operator()(rd_kafka_t* made) const { rd_kafka_destroy(made); }
};

}  // namespace

class kafka_cluster::impl {
 public:
  explicit impl(int brokers) : host(host_of_mock()) {
    mock = rd_kafka_mock_cluster_new(host.get(), brokers);
    check_mock(mock != nullptr, "no mock cluster");
    addresses = rd_kafka_mock_cluster_bootstraps(mock);
    client = std::make_unique<kafka_client>(addresses);
  }
  ~impl() {
    client.reset();
    rd_kafka_mock_cluster_destroy(mock);
  }

  std::unique_ptr<rd_kafka_t, ends_host> host;
  rd_kafka_mock_cluster_t* mock = nullptr;
  std::string addresses;
  std::unique_ptr<kafka_client> client;
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
  check_mock(rd_kafka_mock_topic_create(impl_->mock, name.c_str(), partitions, 1), "create " + name);
}

void kafka_cluster::produce(const std::string& topic, std::int32_t partition,
                            const std::vector<message>& messages) {
  impl_->client->produce(topic, partition, messages);
}

namespace {

/// Big-endian, as all of Kafka's protocol.
void append(std::string& message, std::int64_t number, std::size_t bytes) {
  while (bytes-- > 0) message += static_cast<char>(number >> (8 * bytes));
}

/// A batch of one record, whose bytes should be compressed by gzip.
std::string damaged_batch() {
  constexpr int gzip = 1;
  std::string rest;
  append(rest, 0, 4);  // the leader's epoch
  append(rest, 2, 1);  // the version of the format
  append(rest, 0, 4);  // the checksum, which clients check only if they are told to
  append(rest, gzip, 2);
  append(rest, 0, 4);  // the last record's offset in the batch
  append(rest, 0, 8);  // the times of the first and the last record
  append(rest, 0, 8);
  append(rest, -1, 8);  // producer, epoch and sequence
  append(rest, -1, 2);
  append(rest, -1, 4);
  append(rest, 1, 4);  // records
  rest += "this is no gzip";
  std::string batch;
  append(batch, 0, 8);
  append(batch, static_cast<std::int64_t>(rest.size()), 4);
  return batch + rest;
}

}  // namespace

void kafka_cluster::produce_damaged(const std::string& topic, std::int32_t partition) {
  const std::string batch = damaged_batch();
  std::string body;
  append(body, static_cast<std::int16_t>(request::produce), 2);
  append(body, 7, 2);   // the version of the request
  append(body, 1, 4);   // its number
  append(body, -1, 2);  // no client id
  append(body, -1, 2);  // no transaction
  append(body, -1, 2);  // acknowledged by all replicas
  append(body, 1'000, 4);
  append(body, 1, 4);
  append(body, static_cast<std::int64_t>(topic.size()), 2);
  body += topic;
  append(body, 1, 4);
  append(body, partition, 4);
  append(body, static_cast<std::int64_t>(batch.size()), 4);
  body += batch;
  std::string sent;
  append(sent, static_cast<std::int64_t>(body.size()), 4);
  sent += body;
  const auto port = std::stoi(impl_->addresses.substr(impl_->addresses.rfind(':') + 1));
  const descriptor broker(connect_to(static_cast<std::uint16_t>(port)));
  check_mock(
      ::send(broker.get(), sent.data(), sent.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(sent.size()),
      "send");
  std::array<char, 256> answer{};
  check_mock(::recv(broker.get(), answer.data(), answer.size(), 0) > 0, "receive");
}

std::vector<kafka_cluster::message> kafka_cluster::read(const std::string& topic) const {
  return impl_->client->read(topic);
}

std::map<std::int32_t, std::int64_t> kafka_cluster::committed(const std::string& group,
                                                              const std::string& topic) const {
  return impl_->client->committed(group, topic);
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
  check_mock(rd_kafka_mock_broker_set_down(impl_->mock, broker), "set_down");
}

void kafka_cluster::set_up(int broker) {
  check_mock(rd_kafka_mock_broker_set_up(impl_->mock, broker), "set_up");
}

void kafka_cluster::offer_up_to(std::int16_t kind, std::int16_t newest) {
  check_mock(rd_kafka_mock_set_apiversion(impl_->mock, kind, 0, newest), "set_apiversion");
}

void kafka_cluster::set_round_trip(std::chrono::milliseconds time, int broker) {
  check_mock(rd_kafka_mock_broker_set_rtt(impl_->mock, broker, static_cast<int>(time.count())),
             "set_round_trip");
}

}  // namespace everseen::test
