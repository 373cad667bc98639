#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/kafka/kafka_client.hpp"

namespace everseen::test {

/// Brokers of Kafka that speak its protocol over real sockets of 127.0.0.1: librdkafka's own mock cluster.
///
/// It is for what a kafka_broker cannot be made to do: it answers one request, and no other, with a given
/// error of the protocol. A broker gives such errors only while it starts, hands over a coordinator or loses
/// its disk, and to all requests of that time. Two more uses are a matter of cost: an outage of one broker of
/// three, which as processes take 30 CPU seconds (kafka_brokers, in the soak), and `kafka_mock`, which needs
/// no Java.
///
/// Its limits: messages of an aborted transaction stay readable, offsets of a transaction are acknowledged
/// and forgotten, of two producers with one transactional.id the older is not fenced, and nobody lacks a
/// right. Requested topics are created. A partition keeps its newest 5 MB. It ends with this object. Threads:
/// any.
class kafka_cluster {
 public:
  explicit kafka_cluster(int brokers = 1);
  ~kafka_cluster();
  kafka_cluster(const kafka_cluster&) = delete;
  kafka_cluster& operator=(const kafka_cluster&) = delete;

  /// host:port,host:port
  [[nodiscard]] std::string brokers() const;
  /// kafka://brokers/topic and `rest`, as in "?group=g".
  [[nodiscard]] std::string url(std::string_view topic, std::string_view rest = "") const;

  void create_topic(const std::string& name, int partitions);

  using message = kafka_client::message;
  /// All are in the topic when it returns.
  void produce(const std::string& topic, std::int32_t partition, const std::vector<message>& messages);
  /// One event whose bytes are not of the codec that its batch names. With a cluster of one broker.
  void produce_damaged(const std::string& topic, std::int32_t partition);
  /// The content of a topic, by partition and in order.
  [[nodiscard]] std::vector<message> read(const std::string& topic) const;
  /// A group's committed offsets, by partition; partitions without one are left out.
  [[nodiscard]] std::map<std::int32_t, std::int64_t> committed(const std::string& group,
                                                               const std::string& topic) const;

  /// Kinds of requests that can be made to fail, as the protocol numbers them.
  enum class request : std::int16_t {
    produce = 0,
    fetch = 1,
    list_offsets = 2,
    offset_commit = 8,
    offset_fetch = 9,
    find_coordinator = 10,
    join_group = 11,
    init_producer = 22,
    add_partitions_to_transaction = 24,
    end_transaction = 26,
    transaction_offset_commit = 28,
  };
  /// The next requests of the kind are answered with these errors of the protocol, in turn. -195 cuts the
  /// connection.
  void fail_next(request kind, const std::vector<int>& errors);
  /// Requests about the topic get this error of the protocol. 3: there is no such topic.
  void set_topic_error(const std::string& topic, int error);
  void set_down(int broker = -1);  ///< -1: all
  void set_up(int broker = -1);
  /// Offers clients no newer version of this kind of request.
  void offer_up_to(std::int16_t kind, std::int16_t newest);
  void set_round_trip(std::chrono::milliseconds time, int broker = -1);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
