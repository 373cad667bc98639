#include "test/support/kafka/kafka_node.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

#include <unistd.h>

#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {

kafka_ports::kafka_ports() {
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

std::uint16_t kafka_ports::at(std::size_t which) const {
  if (which >= size) throw std::logic_error("too many gates of a broker");
  return static_cast<std::uint16_t>(begin_ + which);
}

std::string kafka_ports::address(std::size_t which) const {
  return "127.0.0.1:" + std::to_string(at(which));
}

namespace {

/// A broker of a test lives for seconds: the optimizing compiler and the parallel collector would cost more
/// than they save, 15 CPU seconds until the broker answers instead of 9.
std::vector<std::string> java(const std::string& main_class, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"java",
                                      "-Xmx512m",
                                      "-XX:TieredStopAtLevel=1",
                                      "-XX:+UseSerialGC",
                                      "-cp",
                                      source_directory() + "/build/peers/kafka/*",
                                      main_class};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

kafka_node::kafka_node(const place& of) : settings_((directory_.path() / "settings").string()) {
  const std::string replicas = std::to_string(of.replicas);
  const std::string needed = std::to_string(of.replicas > 1 ? of.replicas - 1 : 1);
  std::ofstream(settings_) << "process.roles=broker,controller\nnode.id=" << of.id
                           << "\ncontroller.quorum.voters=" << of.quorum << "\nlisteners=PLAINTEXT://"
                           << of.client_address << ",CONTROLLER://" << of.controller_address
                           << of.more_listeners << "\nadvertised.listeners=PLAINTEXT://" << of.client_address
                           << of.more_advertised
                           << "\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
                           << of.more_protocols << "\nlog.dirs=" << (directory_.path() / "log").string()
                           << "\ncontroller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n"
                              "num.network.threads=1\nauto.create.topics.enable=false\n"
                              "broker.session.timeout.ms=2000\nbroker.heartbeat.interval.ms=500\n"
                              "group.initial.rebalance.delay.ms=0\ngroup.min.session.timeout.ms=500\n"
                              "offsets.topic.num.partitions=4\ntransaction.state.log.num.partitions=4\n"
                              "transaction.abort.timed.out.transaction.cleanup.interval.ms=200\n"
                           << "default.replication.factor=" << replicas << "\nmin.insync.replicas=" << needed
                           << "\noffsets.topic.replication.factor=" << replicas
                           << "\ntransaction.state.log.replication.factor=" << replicas
                           << "\ntransaction.state.log.min.isr=" << needed << '\n'
                           << of.more_settings;
  // Any cluster id of 16 bytes in base64.
  std::vector<std::string> words = {"format", "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--config",
                                    settings_};
  words.insert(words.end(), of.credentials.begin(), of.credentials.end());
  const program_result formatted = run_program(java("kafka.tools.StorageTool", words));
  if (formatted.exit_code != 0) throw std::runtime_error("Kafka formats no storage: " + formatted.err);
}

void kafka_node::start() {
  running_ = std::make_unique<running_program>(java("kafka.Kafka", {settings_}));
}

void kafka_node::kill() {
  running_->send(SIGKILL);
  running_->wait();
}

}  // namespace everseen::test
