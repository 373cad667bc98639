#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "everseen/store/disk/lock_file.hpp"

#include "test/support/kafka/kafka_preparation.hpp"
#include "test/support/program.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// Ports of 127.0.0.1 that no other test uses: a broker takes seconds to bind its own.
class kafka_ports {
 public:
  kafka_ports();
  [[nodiscard]] std::uint16_t at(std::size_t which) const;
  /// 127.0.0.1:port
  [[nodiscard]] std::string address(std::size_t which) const;

 private:
  static constexpr unsigned first = 10'000, size = 16,
                            count = 300;  // below those of other servers of tests

  std::uint16_t begin_ = 0;
  std::optional<lock_file> lock_;
};

/// A process of Apache Kafka, broker and controller in one, and its files. It ends with this object.
/// Threads: one.
class kafka_node {
 public:
  struct place {
    int id = 1;
    std::string quorum{};              ///< all controllers: id@host:port,...
    std::string client_address{};      ///< host:port
    std::string controller_address{};  ///< host:port
    std::string more_listeners{};      ///< ,NAME://host:port...
    std::string more_advertised{};     ///< the same, as clients reach them
    std::string more_protocols{};      ///< ,NAME:PROTOCOL...
    int replicas = 1;                  ///< of every topic
    std::string more_settings{};       ///< lines
  };
  /// Formats its storage; start() follows.
  explicit kafka_node(const place& node, const kafka_preparation& from = kafka_preparation::of_all());

  /// Does not wait until it answers.
  void start();
  /// As `kill -9`.
  void kill();
  /// In order, by SIGTERM.
  void end();
  /// What it wrote.
  [[nodiscard]] std::string output() const { return running_->out() + running_->err(); }
  [[nodiscard]] const scratch_directory& directory() const noexcept { return directory_; }

 private:
  scratch_directory directory_{};
  std::string settings_;
  std::vector<std::string> command_;
  std::unique_ptr<running_program> running_{};
};

}  // namespace everseen::test
