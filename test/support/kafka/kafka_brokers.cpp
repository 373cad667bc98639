#include "test/support/kafka/kafka_brokers.hpp"

namespace everseen::test {

kafka_brokers::kafka_brokers() {
  std::string quorum;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string comma = i == 0 ? "" : ",";
    addresses_ += comma + ports_.address(i);
    quorum += comma + std::to_string(i + 1) + '@' + ports_.address(size + i);
  }
  for (std::size_t i = 0; i < size; ++i) {
    kafka_node::place place;
    place.id = static_cast<int>(i + 1);
    place.quorum = quorum;
    place.client_address = ports_.address(i);
    place.controller_address = ports_.address(size + i);
    place.replicas = size;
    // One coordinator of all groups, and one of all transactions, so that a test knows which broker it is.
    place.more_settings = "offsets.topic.num.partitions=1\ntransaction.state.log.num.partitions=1\n";
    nodes_.push_back(std::make_unique<kafka_node>(place));
  }
  for (const auto& node : nodes_) node->start();
  client_ = std::make_unique<kafka_client>(addresses_);
  client_->wait_for_brokers(size);
}

std::size_t kafka_brokers::leader_of(const std::string& topic, std::int32_t partition) const {
  return static_cast<std::size_t>(client_->leader_of(topic, partition) - 1);
}

void kafka_brokers::start(std::size_t which) {
  nodes_.at(which)->start();
  client_->wait_for_brokers(size);
}

}  // namespace everseen::test
