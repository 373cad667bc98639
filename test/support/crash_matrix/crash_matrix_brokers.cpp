#include "test/support/crash_matrix/crash_matrix_brokers.hpp"

#include <sstream>
#include <utility>

namespace everseen::test {

namespace {

constexpr std::int32_t partitions = 8;

/// Dead workers are removed soon, not after the default of 45 s. But the mock's groups wait 3 s for their
/// members, and a shorter session would expire during that wait, again and again.
std::string quick_group(const std::string& name) {
  return "?group=" + name +
         "&until=end&session.timeout.ms=3500&heartbeat.interval.ms=100&fetch.wait.max.ms=20&max.partition."
         "fetch.bytes=2000";
}

/// The values of a stream, one a line.
std::string entries_of(const redis_server& server, const std::string& stream) {
  std::istringstream told(server.run({"XRANGE", stream, "-", "+"}));
  std::string values;
  for (std::string line; std::getline(told, line);)
    if (line.starts_with('{')) (values += line) += '\n';
  return values;
}

}  // namespace

matrix_source from_redis_stream() {
  return {"redis_stream",
          [](const matrix_world& world) {
            std::vector<std::vector<std::string>> commands;
            for (const std::string& line : world.clicks.lines)
              commands.push_back({"XADD", "clicks-" + world.job, "*", "event", line});
            static_cast<void>(raw_commands(world.on.store.unix_path(), commands));
          },
          [](const matrix_world& world, int worker) {
            return std::vector<std::string>{"--from", "redis-stream:clicks-" + world.job +
                                                          "?group=g&consumer=w-" + std::to_string(worker) +
                                                          "&field=event&claim_after=200ms&until=end"};
          },
          false};
}

matrix_sink to_redis_stream() {
  return {"redis_stream",
          [](const matrix_world& world, int) {
            return std::vector<std::string>{"--to", "redis-stream:fresh-" + world.job};
          },
          [](const matrix_world& world, const std::string&) {
            return fault_of_lines(world.clicks, entries_of(world.on.store, "fresh-" + world.job), false);
          }};
}

namespace {

/// Small batches, so that a job fetches, judges and settles many times: a fetch is at least one of them.
void produce_in_small_batches(kafka_cluster& kafka, const std::string& topic,
                              const std::vector<std::string>& lines) {
  constexpr std::size_t batch = 20;
  std::vector<std::vector<kafka_cluster::message>> parts(partitions);
  const auto flush = [&](std::size_t p) {
    kafka.produce(topic, static_cast<std::int32_t>(p), std::exchange(parts[p], {}));
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    parts[i % partitions].push_back({lines[i]});
    if (parts[i % partitions].size() == batch) flush(i % partitions);
  }
  for (std::size_t p = 0; p < parts.size(); ++p) flush(p);
}

}  // namespace

matrix_source from_kafka(kafka_brokers& kafka) {
  return {"kafka",
          [&kafka](const matrix_world& world) {
            const std::string topic = "clicks-" + world.job;
            kafka.cluster.create_topic(topic, partitions);
            produce_in_small_batches(kafka.cluster, topic, world.clicks.lines);
          },
          [&kafka](const matrix_world& world, int) {
            return std::vector<std::string>{"--from",
                                            kafka.relay.url("clicks-" + world.job, quick_group(world.job))};
          },
          false};
}

namespace {

std::vector<std::string> to_topic(const kafka_brokers& kafka, const matrix_world& world, int worker) {
  return {"--to",
          kafka.relay.url("fresh-" + world.job, "?transactional.id=count-" + world.job + '-' +
                                                    std::to_string(worker) + "&transaction.timeout.ms=4000")};
}

}  // namespace

matrix_sink to_kafka(kafka_brokers& kafka) {
  return {"kafka", [&kafka](const matrix_world& world, int worker) { return to_topic(kafka, world, worker); },
          [&kafka](const matrix_world& world, const std::string&) {
            std::string text;
            for (const auto& each : kafka.relay.read_committed("fresh-" + world.job))
              (text += each.value) += '\n';
            return fault_of_lines(world.clicks, text, false);
          }};
}

matrix_sink to_kafka_without_transactions(kafka_brokers& kafka) {
  return {"kafka", [&kafka](const matrix_world& world, int worker) { return to_topic(kafka, world, worker); },
          [&kafka](const matrix_world& world, const std::string&) {
            std::string text;
            for (const auto& each : kafka.cluster.read("fresh-" + world.job)) (text += each.value) += '\n';
            return fault_of_lines(world.clicks, text, true);
          }};
}

}  // namespace everseen::test
