#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/kafka/kafka_cluster.hpp"
#include "test/support/kafka/kafka_transactions.hpp"

namespace everseen::test {

/// Brokers with working transactions: a relay between clients and a kafka_cluster, over real sockets of
/// 127.0.0.1.
///
/// It answers everything that concerns a transaction (its producer's epoch, partitions, records, offsets,
/// end) itself, by kafka_transactions. It forwards all else, topics and groups, to the cluster, and rewrites
/// addresses and the offsets of groups on the way. So records of transactions are in read_committed() and
/// not in the cluster. It can simulate a lost network and lost answers. Threads: any; it works on its own.
class kafka_relay {
 public:
  /// @param cluster  from now on offers older versions of some requests; outlives the relay
  explicit kafka_relay(kafka_cluster& cluster);
  ~kafka_relay();
  kafka_relay(const kafka_relay&) = delete;
  kafka_relay& operator=(const kafka_relay&) = delete;

  /// host:port,host:port
  [[nodiscard]] std::string brokers() const;
  /// As kafka_cluster::url().
  [[nodiscard]] std::string url(std::string_view topic, std::string_view rest = "") const;
  /// Gives clients another port than the relay's: that of a proxy in front of it.
  void advertise(std::uint16_t port, int broker = 0);

  /// The view of a topic with isolation.level=read_committed, if only transactions write to it.
  [[nodiscard]] std::vector<kafka_transactions::record> read_committed(const std::string& topic) const;
  /// A group's committed offsets, by partition.
  [[nodiscard]] std::map<std::int32_t, std::int64_t> committed(const std::string& group,
                                                               const std::string& topic,
                                                               std::int32_t partitions) const;
  [[nodiscard]] kafka_transactions::counts so_far() const;
  /// How often a group has rebalanced.
  [[nodiscard]] std::int32_t generation(const std::string& group) const;

  /// Cuts every connection, and each new one for this long.
  void lose_network(std::chrono::milliseconds how_long);
  /// The next `count` requests of the kind take effect, but instead of an answer the connection is cut.
  void lose_answers(kafka_wire::api what, int count);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
