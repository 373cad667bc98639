#include "test/support/kafka/kafka_broker.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {

namespace {

const std::filesystem::path kafka_jars = source_directory() + "/build/peers/kafka";  // by ./dev peers

std::vector<std::string> java(const std::string& main_class, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"java", "-Xmx512m", "-cp", (kafka_jars / "*").string(), main_class};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

std::string kafka_broker::why_not() {
  return std::filesystem::exists(kafka_jars) ? "" : "there is no Apache Kafka; ./dev peers brings it";
}

kafka_broker::kafka_broker() : port_(free_port()), controller_port_(free_port()) {
  const std::string port = std::to_string(port_), controller = std::to_string(controller_port_);
  const std::string settings = (directory_.path() / "settings").string();
  std::ofstream(settings) << "process.roles=broker,controller\nnode.id=1\n"
                          << "controller.quorum.voters=1@127.0.0.1:" << controller << '\n'
                          << "listeners=PLAINTEXT://127.0.0.1:" << port
                          << ",CONTROLLER://127.0.0.1:" << controller
                          << "\nadvertised.listeners=PLAINTEXT://127.0.0.1:" << port
                          << "\ncontroller.listener.names=CONTROLLER\n"
                             "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
                          << "log.dirs=" << (directory_.path() / "log").string()
                          << "\noffsets.topic.replication.factor=1\noffsets.topic.num.partitions=4\n"
                             "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
                             "transaction.state.log.num.partitions=4\ngroup.initial.rebalance.delay.ms=0\n"
                             "auto.create.topics.enable=false\nbroker.session.timeout.ms=2000\nbroker."
                             "heartbeat.interval.ms=500\n";
  // Any cluster id of 16 bytes in base64.
  const program_result formatted = run_program(java(
      "kafka.tools.StorageTool", {"format", "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--config", settings}));
  if (formatted.exit_code != 0) throw std::runtime_error("Kafka formats no storage: " + formatted.err);
  start();
}

std::string kafka_broker::url(std::string_view topic, std::string_view rest) const {
  return "kafka://127.0.0.1:" + std::to_string(port_) + '/' + std::string(topic) + std::string(rest);
}

void kafka_broker::kill() {
  running_->send(SIGKILL);
  running_->wait();
}

void kafka_broker::start() {
  running_ =
      std::make_unique<running_program>(java("kafka.Kafka", {(directory_.path() / "settings").string()}));
  client_ =
      std::make_unique<kafka_client>("127.0.0.1:" + std::to_string(port_));  // an old one waits for long
  client_->wait_for_brokers();
}

}  // namespace everseen::test
