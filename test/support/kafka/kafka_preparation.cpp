#include "test/support/kafka/kafka_preparation.hpp"

#include <fstream>
#include <functional>
#include <stdexcept>

#include "everseen/store/disk/lock_file.hpp"

#include "test/support/kafka/kafka_handle.hpp"
#include "test/support/kafka/kafka_node.hpp"
#include "test/support/kafka/kafka_transaction.hpp"
#include "test/support/places.hpp"

namespace everseen::test {

namespace {

namespace fs = std::filesystem;

constexpr const char* cluster_id = "MkU3OEVBNTcwNTJENDM2Qg";  // any 16 bytes in base64

/// Java takes an archive only for the paths that it was made from: a copy of build/ gets its own.
fs::path classes() {
  const std::string from = kafka_preparation::jars().string();
  return from + "/classes-" + std::to_string(std::hash<std::string>()(from)) + ".jsa";
}
fs::path first_state() {
  return kafka_preparation::jars() / "bootstrap.checkpoint";
}

std::vector<std::string> java(const std::vector<std::string>& options,
                              const std::vector<std::string>& words) {
  std::vector<std::string> command = {"java", "-Xmx512m", "-cp", kafka_preparation::jars().string() + "/*"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

/// What of Kafka runs for a test lives for seconds: the optimizing compiler and the parallel collector would
/// cost more than they save.
std::vector<std::string> options_with(const std::string& sharing) {
  return {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", sharing};
}

/// By Kafka's own tool, which takes as long as half a broker's start.
void make_first_state() {
  const scratch_directory place;
  const std::string settings = (place.path() / "settings").string(), log = (place.path() / "log").string();
  std::ofstream(settings) << "process.roles=broker,controller\nnode.id=1\n"
                             "controller.quorum.voters=1@127.0.0.1:1\ncontroller.listener.names=CONTROLLER\n"
                             "listeners=PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1\nlog.dirs="
                          << log << '\n';
  const program_result formatted =
      run_program(java({}, {"kafka.tools.StorageTool", "format", "--cluster-id", cluster_id, "--config",
                            settings, "--add-scram", "SCRAM-SHA-256=[name=alice,password=right]"}));
  if (formatted.exit_code != 0) throw std::runtime_error("Kafka formats no storage: " + formatted.err);
  const fs::path coming = first_state().string() + "-coming";
  fs::copy_file(log + "/bootstrap.checkpoint", coming, fs::copy_options::overwrite_existing);
  fs::rename(coming, first_state());
}

/// As a member of a group. It is ended when this returns: librdkafka 2.0 may never end one whose topic was
/// deleted.
void read_message(const std::string& brokers) {
  const kafka_handle::client member(
      kafka_handle::make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", brokers},
                                             {"group.id", "group"},
                                             {"partition.assignment.strategy", "cooperative-sticky"},
                                             {"auto.offset.reset", "earliest"}}));
  rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, "topic", RD_KAFKA_PARTITION_UA);
  kafka_handle::check(rd_kafka_subscribe(member.get(), topics), "subscribe");
  rd_kafka_topic_partition_list_destroy(topics);
  rd_kafka_message_t* const told = rd_kafka_consumer_poll(member.get(), kafka_handle::timeout_ms);
  kafka_handle::check(told != nullptr, "nothing to read");
  rd_kafka_message_destroy(told);
  kafka_handle::check(rd_kafka_commit(member.get(), nullptr, 0), "commit");
  kafka_handle::check(rd_kafka_consumer_close(member.get()), "leave the group");
}

/// Has a broker do what tests have brokers do: a class that it does not load is not in the archive.
void exercise(const std::string& brokers) {
  kafka_client kafka(brokers);
  kafka.wait_for_brokers(1);
  kafka.create_topic("topic", 2);
  kafka.produce("topic", 0, {{"message"}});
  kafka_transaction committed(kafka), aborted(kafka);
  committed.produce("topic", 0, {{"committed"}});
  committed.commit();
  aborted.produce("topic", 0, {{"aborted"}});
  aborted.abort();
  read_message(brokers);
  static_cast<void>(kafka.committed("group", "topic"));
  static_cast<void>(kafka.members("group"));
  kafka.delete_records("topic", 0, 1);
  kafka.delete_topic("topic");
}

}  // namespace

fs::path kafka_preparation::jars() {
  return source_directory() + "/build/peers/kafka";
}

const kafka_preparation& kafka_preparation::of_all() {
  static const kafka_preparation made = [] {
    const lock_file one_at_a_time = lock_file::take(jars() / "lock");
    if (!fs::exists(first_state())) make_first_state();
    if (!fs::exists(classes())) {
      const fs::path coming = classes().string() + "-coming";
      const kafka_preparation archiving("-XX:ArchiveClassesAtExit=" + coming.string());
      const kafka_ports ports;
      kafka_node::place place;
      place.quorum = "1@" + ports.address(1);
      place.client_address = ports.address(0);
      place.controller_address = ports.address(1);
      kafka_node node(place, archiving);
      node.start();
      exercise(ports.address(0));
      node.end();
      fs::rename(coming, classes());
    }
    return kafka_preparation("-XX:SharedArchiveFile=" + classes().string());
  }();
  return made;
}

std::vector<std::string> kafka_preparation::broker(const std::string& settings) const {
  return java(options_with(sharing_), {"kafka.Kafka", settings});
}

std::string kafka_preparation::java_options() const {
  std::string text;
  for (const std::string& each : options_with(sharing_)) (text += each) += ' ';
  return text;
}

void kafka_preparation::format(const fs::path& log, int id) const {
  fs::create_directories(log);
  fs::copy_file(first_state(), log / "bootstrap.checkpoint");
  const std::string number = std::to_string(10'000 + id).substr(1);
  std::ofstream(log / "meta.properties") << "version=1\ncluster.id=" << cluster_id << "\nnode.id=" << id
                                         << "\ndirectory.id=DirectoryOfBroker" << number << "A\n";
}

}  // namespace everseen::test
