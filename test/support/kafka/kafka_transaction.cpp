#include "test/support/kafka/kafka_transaction.hpp"

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "test/support/kafka/kafka_handle.hpp"

namespace everseen::test {

using namespace kafka_handle;

class kafka_transaction::impl {
 public:
  explicit impl(const std::string& brokers)
      : producer(make(RD_KAFKA_PRODUCER,
                      {{"bootstrap.servers", brokers},
                       {"transactional.id", "of-a-test-" + std::to_string(std::random_device()())}})) {}

  /// @param ending  commits or aborts
  template <typename End>
  void end(End ending, const std::string& action) const {
    std::vector<std::int64_t> before;
    for (const auto& [topic, partition] : places) before.push_back(end_of(producer.get(), topic, partition));
    check(ending(producer.get(), timeout_ms), action);
    auto was = before.begin();
    for (const auto& [topic, partition] : places) {
      while (end_of(producer.get(), topic, partition) <= *was)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ++was;
    }
  }

  std::set<std::pair<std::string, std::int32_t>> places{};
  client producer;
};

kafka_transaction::kafka_transaction(const kafka_client& beside)
    : impl_(std::make_unique<impl>(beside.brokers())) {
  check(rd_kafka_init_transactions(impl_->producer.get(), timeout_ms), "init transactions");
  check(rd_kafka_begin_transaction(impl_->producer.get()), "begin a transaction");
}
kafka_transaction::~kafka_transaction() = default;

void kafka_transaction::produce(const std::string& topic, std::int32_t partition,
                                const std::vector<kafka_client::message>& messages) {
  produce_all(impl_->producer.get(), topic, partition, messages);
  impl_->places.emplace(topic, partition);
}

void kafka_transaction::commit() {
  impl_->end(rd_kafka_commit_transaction, "commit a transaction");
}

void kafka_transaction::abort() {
  impl_->end(rd_kafka_abort_transaction, "abort a transaction");
}

}  // namespace everseen::test
