#include "test/support/kafka/kafka_broker.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {

namespace {

const std::filesystem::path kafka_jars = source_directory() + "/build/peers/kafka";  // by ./dev peers

/// A broker of a test lives for seconds: the optimizing compiler and the parallel collector would cost more
/// than they save, 15 CPU seconds until the broker answers instead of 9.
std::vector<std::string> java(const std::string& main_class, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"java",
                                      "-Xmx512m",
                                      "-XX:TieredStopAtLevel=1",
                                      "-XX:+UseSerialGC",
                                      "-cp",
                                      (kafka_jars / "*").string(),
                                      main_class};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string on_loopback(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

std::string url_at(const std::string& address, std::string_view topic, std::string_view rest) {
  return "kafka://" + address + '/' + std::string(topic) + std::string(rest);
}

}  // namespace

std::string kafka_broker::why_not() {
  return std::filesystem::exists(kafka_jars) ? "" : "there is no Apache Kafka; ./dev peers brings it";
}

void kafka_broker::skip_test_without() {
  if (std::getenv("EVERSEEN_PEERS_REQUIRED") != nullptr)
    ASSERT_EQ(why_not(), "");
  else if (!why_not().empty())
    GTEST_SKIP() << why_not();
}

kafka_broker::port_block::port_block() {
  std::random_device random;
  while (!lock_) {
    const unsigned block = random() % count;
    begin_ = static_cast<std::uint16_t>(first + block * size);
    lock_ = lock_file::try_take(
        std::filesystem::temp_directory_path() /
        ("everseen-test-ports-" + std::to_string(::getuid()) + "-" + std::to_string(block)));
    for (std::uint16_t i = 0; lock_ && i < size; ++i)
      if (!is_free(static_cast<std::uint16_t>(begin_ + i))) lock_.reset();  // another program's
  }
}

std::uint16_t kafka_broker::port_block::at(std::size_t which) const {
  if (which >= size) throw std::logic_error("too many gates of a broker");
  return static_cast<std::uint16_t>(begin_ + which);
}

kafka_broker::kafka_broker(std::size_t gates, const tls_files* authority) {
  for (std::size_t i = 0; i < gates; ++i) gates_.emplace_back(new gate(ports_.at(gate_port + i)));
  std::string listeners =
      "PLAINTEXT://" + address() + ",CONTROLLER://" + on_loopback(ports_.at(controller_port));
  std::string advertised = "PLAINTEXT://" + address();
  std::string protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT";
  for (std::size_t i = 0; i < gates; ++i) {
    const std::string name = "GATE" + std::to_string(i);
    listeners += ',' + name + "://" + on_loopback(gates_[i]->listener);
    advertised += ',' + name + "://" + on_loopback(gates_[i]->network.port());
    protocols += ',' + name + ":PLAINTEXT";
  }
  std::string security;
  if (authority != nullptr) {
    const std::string more =
        ",SASL://" + on_loopback(ports_.at(sasl_port)) + ",TLS://" + on_loopback(ports_.at(tls_port));
    listeners += more;
    advertised += more;
    protocols += ",SASL:SASL_PLAINTEXT,TLS:SSL";
    const std::string identity = (directory_.path() / "identity.pem").string();
    std::ofstream(identity) << std::ifstream(authority->path("server.key")).rdbuf()
                            << std::ifstream(authority->path("server.crt")).rdbuf();
    const std::string login = "org.apache.kafka.common.security.";
    security =
        "listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256\n"
        "listener.name.sasl.plain.sasl.jaas.config=" +
        login + "plain.PlainLoginModule required user_alice=\"right\";\n" +
        "listener.name.sasl.scram-sha-256.sasl.jaas.config=" + login +
        "scram.ScramLoginModule required;\n"
        "listener.name.tls.ssl.client.auth=required\nlistener.name.tls.ssl.keystore.type=PEM\n"
        "listener.name.tls.ssl.keystore.location=" +
        identity + "\nlistener.name.tls.ssl.truststore.type=PEM\nlistener.name.tls.ssl.truststore.location=" +
        authority->ca() + '\n';
  }
  const std::string settings = (directory_.path() / "settings").string();
  std::ofstream(settings) << "process.roles=broker,controller\nnode.id=1\n"
                          << "controller.quorum.voters=1@" << on_loopback(ports_.at(controller_port))
                          << "\nlisteners=" << listeners << "\nadvertised.listeners=" << advertised
                          << "\nlistener.security.protocol.map=" << protocols
                          << "\nlog.dirs=" << (directory_.path() / "log").string()
                          << "\ncontroller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n"
                             "num.network.threads=1\nauto.create.topics.enable=false\n"
                             "broker.session.timeout.ms=2000\nbroker.heartbeat.interval.ms=500\n"
                             "group.initial.rebalance.delay.ms=0\ngroup.min.session.timeout.ms=500\n"
                             "offsets.topic.replication.factor=1\noffsets.topic.num.partitions=4\n"
                             "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
                             "transaction.state.log.num.partitions=4\n"
                             "transaction.abort.timed.out.transaction.cleanup.interval.ms=200\n"
                          << security;
  // Any cluster id of 16 bytes in base64.
  std::vector<std::string> words = {"format", "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--config", settings};
  if (authority != nullptr)
    words.insert(words.end(), {"--add-scram", "SCRAM-SHA-256=[name=alice,password=right]"});
  const program_result formatted = run_program(java("kafka.tools.StorageTool", words));
  if (formatted.exit_code != 0) throw std::runtime_error("Kafka formats no storage: " + formatted.err);
  start();
}

kafka_broker& kafka_broker::of_all() {
  static kafka_broker broker(1);
  return broker;
}

std::string kafka_broker::address() const {
  return on_loopback(ports_.at(client_port));
}

std::string kafka_broker::url(std::string_view topic, std::string_view rest) const {
  return url_at(address(), topic, rest);
}

std::string kafka_broker::sasl_url(std::string_view topic, std::string_view rest) const {
  return url_at(on_loopback(ports_.at(sasl_port)), topic, rest);
}

std::string kafka_broker::tls_url(std::string_view topic, std::string_view rest) const {
  return url_at(on_loopback(ports_.at(tls_port)), topic, rest);
}

std::string kafka_broker::gate::url(std::string_view topic, std::string_view rest) const {
  return url_at(on_loopback(network.port()), topic, rest);
}

void kafka_broker::kill() {
  running_->send(SIGKILL);
  running_->wait();
}

void kafka_broker::start() {
  running_ =
      std::make_unique<running_program>(java("kafka.Kafka", {(directory_.path() / "settings").string()}));
  client_ = std::make_unique<kafka_client>(address());  // an old one waits for long
  try {
    client_->wait_for_brokers();
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string(e.what()) + "; Kafka wrote: " + running_->out() + running_->err());
  }
}

}  // namespace everseen::test
