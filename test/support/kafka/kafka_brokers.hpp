#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/support/kafka/kafka_client.hpp"
#include "test/support/kafka/kafka_node.hpp"

namespace everseen::test {

/// Three brokers of Apache Kafka, which are also the controllers of their cluster. Each topic is on all
/// three, and takes messages while two of them run. They cost 30 CPU seconds and half a gigabyte. Threads:
/// one.
///
/// Times are short, as those of a kafka_broker: a dead broker is noticed after two seconds.
class kafka_brokers {
 public:
  /// All have joined the cluster when it returns.    @pre kafka_broker::why_not().empty()
  kafka_brokers();

  /// host:port,host:port,host:port
  [[nodiscard]] const std::string& addresses() const noexcept { return addresses_; }
  [[nodiscard]] kafka_client& client() noexcept { return *client_; }
  /// The broker that leads a partition: of `__transaction_state`, the coordinator of transactions; of
  /// `__consumer_offsets`, that of groups.
  [[nodiscard]] std::size_t leader_of(const std::string& topic, std::int32_t partition) const;
  /// As `kill -9`.
  void kill(std::size_t which) { nodes_.at(which)->kill(); }
  /// Starts it again. It has joined the cluster when it returns.
  void start(std::size_t which);

 private:
  static constexpr std::size_t size = 3;

  kafka_ports ports_{};
  std::string addresses_{};
  std::vector<std::unique_ptr<kafka_node>> nodes_{};
  std::unique_ptr<kafka_client> client_{};
};

}  // namespace everseen::test
