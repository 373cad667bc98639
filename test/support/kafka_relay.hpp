#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/kafka_cluster.hpp"
#include "test/support/kafka_transactions.hpp"

namespace everseen::test {

/// Brokers with transactions that hold: a relay between clients and a kafka_cluster, over real sockets of
/// 127.0.0.1.
///
/// Whatever concerns a transaction (its producer's epoch, partitions, records, offsets, end) it answers
/// itself, as kafka_transactions says; all else, topics and groups, it leaves to the cluster, and rewrites
/// its addresses and the offsets of groups on the way. So records of transactions are in read_committed() and
/// not in the cluster. It can lose the network, and answers. Threads: any; it works in one of its own.
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
  /// Clients are told another port than the relay's: that of something in front of it.
  void advertise(std::uint16_t port, int broker = 0);

  /// What readers with isolation.level=read_committed see of a topic that only transactions write to.
  [[nodiscard]] std::vector<kafka_transactions::record> read_committed(const std::string& topic) const;
  /// Where a group goes on, by partition, as far as anybody has committed.
  [[nodiscard]] std::map<std::int32_t, std::int64_t> committed(const std::string& group,
                                                               const std::string& topic,
                                                               std::int32_t partitions) const;
  [[nodiscard]] kafka_transactions::counts so_far() const;
  /// How often a group has shared its partitions out.
  [[nodiscard]] std::int32_t generation(const std::string& group) const;

  /// Cuts every connection, and each new one for so long.
  void lose_network(std::chrono::milliseconds how_long);
  /// The next so many requests of the kind have their effect; instead of the answer comes a cut.
  void lose_answers(kafka_wire::api what, int count);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
