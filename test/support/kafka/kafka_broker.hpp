#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "test/support/kafka/kafka_client.hpp"
#include "test/support/program.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// A broker of Apache Kafka, alone in its cluster, on a port of 127.0.0.1. Its files and its process end with
/// this object. Threads: one.
class kafka_broker {
 public:
  /// Why there can be none on this machine; empty if there can.
  [[nodiscard]] static std::string why_not();

  /// Answers clients when it returns.    @pre why_not().empty()
  kafka_broker();

  /// kafka://broker/topic and `rest`, as in "?group=g".
  [[nodiscard]] std::string url(std::string_view topic, std::string_view rest = "") const;
  [[nodiscard]] kafka_client& client() noexcept { return *client_; }

  /// As `kill -9`.
  void kill();
  /// Starts it again, at the same address.
  void start();

 private:
  scratch_directory directory_;
  std::uint16_t port_;
  std::uint16_t controller_port_;
  std::unique_ptr<running_program> running_{};
  std::unique_ptr<kafka_client> client_{};
};

}  // namespace everseen::test
