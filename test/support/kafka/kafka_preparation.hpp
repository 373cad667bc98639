#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace everseen::test {

/// What all brokers of tests have in common, in build/peers/kafka beside Kafka itself: its classes as Java
/// maps them into memory, and the first state of a cluster. With them a broker answers after 2 CPU seconds
/// instead of 5. Java ignores an archive that is of other classes, or of another Java: only time is lost.
///
/// The first test that starts a broker makes them, in 15 s; other processes wait meanwhile. Threads: any.
class kafka_preparation {
 public:
  /// Where ./dev peers puts Kafka.
  [[nodiscard]] static std::filesystem::path jars();

  /// @pre jars() exists
  static const kafka_preparation& of_all();

  /// The command that runs a broker.
  [[nodiscard]] std::vector<std::string> broker(const std::string& settings) const;
  /// For scripts that run Kafka, as JAVA_TOOL_OPTIONS.
  [[nodiscard]] std::string java_options() const;
  /// Makes `log` the storage of a broker that has never run. Its cluster knows the user `alice`, who proves
  /// herself by SCRAM-SHA-256 and the password `right`.
  void format(const std::filesystem::path& log, int id) const;

 private:
  explicit kafka_preparation(std::string sharing) : sharing_(std::move(sharing)) {}

  std::string sharing_;  // a word for Java: the archive that it reads, or makes
};

}  // namespace everseen::test
