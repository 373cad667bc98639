#include "test/support/kafka/kafka_node.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

#include <unistd.h>

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

kafka_node::kafka_node(const place& node, const kafka_preparation& from)
    : settings_((directory_.path() / "settings").string()), command_(from.broker(settings_)) {
  const std::filesystem::path log = directory_.path() / "log";
  from.format(log, node.id);
  const std::string replicas = std::to_string(node.replicas);
  const std::string needed = std::to_string(node.replicas > 1 ? node.replicas - 1 : 1);
  std::ofstream(settings_)
      << "process.roles=broker,controller\nnode.id=" << node.id
      << "\ncontroller.quorum.voters=" << node.quorum << "\nlisteners=PLAINTEXT://" << node.client_address
      << ",CONTROLLER://" << node.controller_address << node.more_listeners
      << "\nadvertised.listeners=PLAINTEXT://" << node.client_address << node.more_advertised
      << "\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT" << node.more_protocols
      << "\nlog.dirs=" << log.string()
      << "\ncontroller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n"
         "num.network.threads=1\nnum.io.threads=2\nbackground.threads=2\nauto.create.topics.enable=false\n"
         "broker.session.timeout.ms=2000\nbroker.heartbeat.interval.ms=500\n"
         "group.initial.rebalance.delay.ms=0\ngroup.min.session.timeout.ms=500\n"
         "offsets.topic.num.partitions=4\ntransaction.state.log.num.partitions=4\n"
         "transaction.abort.timed.out.transaction.cleanup.interval.ms=200\n"
      << "default.replication.factor=" << replicas << "\nmin.insync.replicas=" << needed
      << "\noffsets.topic.replication.factor=" << replicas
      << "\ntransaction.state.log.replication.factor=" << replicas
      << "\ntransaction.state.log.min.isr=" << needed << '\n'
      << node.more_settings;
}

void kafka_node::start() {
  running_ = std::make_unique<running_program>(command_);
}

void kafka_node::kill() {
  running_->send(SIGKILL);
  running_->wait();
}

void kafka_node::end() {
  running_->send(SIGTERM);
  running_->wait();
}

}  // namespace everseen::test
