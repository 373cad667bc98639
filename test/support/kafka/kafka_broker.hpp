#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/cutting_proxy.hpp"
#include "test/support/kafka/kafka_client.hpp"
#include "test/support/kafka/kafka_node.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// A broker of Apache Kafka, alone in its cluster, on a port of 127.0.0.1. Its files and its process end with
/// this object. Threads: one; each gate has one of its own.
///
/// Times are short, so that what takes minutes in operation takes seconds: sessions of groups may be of half
/// a second, and transactions are aborted within 0.2 s of their time limit.
class kafka_broker {
 public:
  /// Another way to the broker, by a network of its own that can be lost. Threads: one.
  class gate {
   public:
    [[nodiscard]] std::string url(std::string_view topic, std::string_view rest = "") const;
    /// Cuts every connection, and each new one until mend().
    void cut() { network.refuse(true); }
    void mend() { network.refuse(false); }

   private:
    friend class kafka_broker;
    explicit gate(std::uint16_t port) : listener(port), network(port) {}
    std::uint16_t listener;
    cutting_proxy network;
  };

  /// Why there can be none on this machine; empty if there can.
  [[nodiscard]] static std::string why_not();
  /// For SetUp() of tests that need one: skips them where there can be none, and fails them there if
  /// EVERSEEN_PEERS_REQUIRED is set.
  static void skip_test_without();

  static constexpr std::size_t most_gates = 12;
  /// Answers clients when it returns.    @pre why_not().empty(); gates <= most_gates
  explicit kafka_broker(std::size_t gates = 0) : kafka_broker(gates, nullptr) {}
  /// With listeners for those who prove who they are: the users `alice` and `worker` by the password `right`,
  /// and certificates that this authority has signed. `worker` has the rights that kafka_client::allow()
  /// gives it, all others have every right.
  explicit kafka_broker(const tls_files& authority) : kafka_broker(0, &authority) {}

  /// One for all suites of a process that need no other, with all gates. It is started by its first use, and
  /// lasts as long as the process. Give each test topics and groups of its own.
  [[nodiscard]] static kafka_broker& of_all();

  /// kafka://broker/topic and `rest`, as in "?group=g".
  [[nodiscard]] std::string url(std::string_view topic, std::string_view rest = "") const;
  /// kafka://broker/topic of a listener that wants SASL, by PLAIN or SCRAM-SHA-256, or TLS.    @pre they
  /// exist
  [[nodiscard]] std::string sasl_url(std::string_view topic, std::string_view rest = "") const;
  [[nodiscard]] std::string tls_url(std::string_view topic, std::string_view rest = "") const;
  /// host:port, for clients of one's own, as a kafka_client of each thread.
  [[nodiscard]] std::string address() const;
  [[nodiscard]] kafka_client& client() noexcept { return *client_; }
  /// @pre which < number of gates
  [[nodiscard]] gate& gate_at(std::size_t which) { return *gates_.at(which); }

  /// As `kill -9`.
  void kill() { node_->kill(); }
  /// Starts it again, at the same address.
  void start();

 private:
  kafka_broker(std::size_t gates, const tls_files* authority);

  static constexpr std::size_t client_port = 0, controller_port = 1, sasl_port = 2, tls_port = 3,
                               gate_port = 4;

  scratch_directory directory_{};
  kafka_ports ports_{};
  std::vector<std::unique_ptr<gate>> gates_{};
  std::unique_ptr<kafka_node> node_{};
  std::unique_ptr<kafka_client> client_{};
};

}  // namespace everseen::test
