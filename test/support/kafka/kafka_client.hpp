#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace everseen::test {

/// What tests do with a Kafka cluster, real or not, beside the code under test: fill its topics and read
/// them. Threads: any.
class kafka_client {
 public:
  /// @param brokers  host:port,host:port
  explicit kafka_client(std::string brokers, const std::string& codec = "lz4");
  ~kafka_client();
  kafka_client(const kafka_client&) = delete;
  kafka_client& operator=(const kafka_client&) = delete;

  struct message {
    using header = std::pair<std::string, std::optional<std::string>>;
    std::string value;
    std::optional<std::string> key{};
    std::int64_t offset = 0;
    std::int32_t partition = 0;
    bool has_value = true;
    std::vector<header> headers{};
    std::int64_t time_ms = 0;  ///< 0: the time of production
  };
  /// As given: host:port,host:port
  [[nodiscard]] const std::string& brokers() const noexcept;
  /// Waits until that many brokers are in the cluster.
  void wait_for_brokers(int count) const;
  /// The number of the broker that leads a partition, once there is one.
  [[nodiscard]] int leader_of(const std::string& topic, std::int32_t partition) const;
  /// A topic of a real cluster; @param settings  of the topic, as in {"cleanup.policy", "compact"}
  void create_topic(const std::string& name, int partitions,
                    const std::map<std::string, std::string>& settings = {});
  void delete_topic(const std::string& name);
  /// @param total  the number of partitions that it has then
  void add_partitions(const std::string& topic, int total);
  /// As retention does: the first offset that is left in the partition.
  void delete_records(const std::string& topic, std::int32_t partition, std::int64_t before);
  /// Gives a user the right to an operation, once and for all, where brokers have an authorizer.
  enum class operation : std::uint8_t { describe, read, write };
  enum class resource : std::uint8_t { topic, group };
  void allow(const std::string& user, operation call, resource kind, const std::string& name);
  /// Moves a group without members, as a person may.
  void set_offset(const std::string& group, const std::string& topic, std::int32_t partition,
                  std::int64_t offset);
  /// All are in the topic when it returns.
  void produce(const std::string& topic, std::int32_t partition, const std::vector<message>& messages);
  /// A client whose messages are compressed by another codec than lz4.
  [[nodiscard]] kafka_client compressing_by(const std::string& codec) const;
  /// The content of a topic, by partition and in order, without open and aborted transactions.
  [[nodiscard]] std::vector<message> read(const std::string& topic) const;
  /// Where a partition ends for readers of committed messages: before an open transaction, and behind the
  /// mark of one that has ended.
  [[nodiscard]] std::int64_t end_of(const std::string& topic, std::int32_t partition) const;
  /// A group's committed offsets, by partition; partitions without one are left out.
  [[nodiscard]] std::map<std::int32_t, std::int64_t> committed(const std::string& group,
                                                               const std::string& topic) const;
  /// The number of members of a group among which its partitions are shared out; 0 while they are not.
  [[nodiscard]] int members(const std::string& group) const;

 private:
  void wait_for_partitions(const std::string& topic, int count) const;

  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
