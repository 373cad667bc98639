#include "test/support/crash_matrix/crash_matrix_brokers.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace everseen::test {

namespace {

constexpr std::int32_t partitions = 8;

/// Kafka's times, in ms. By default, what dead workers leave behind is removed soon.
struct time_limits {
  int session = 2'000;
  int transaction = 4'000;
  int retry = 60'000;
};
/// A busy machine may need minutes to restart a broker.
time_limits limits_of(const matrix_stage& on) {
  return on.outlasts_brokers ? time_limits{300'000, 300'000, 600'000} : time_limits{};
}

/// Where sessions are long, a worker that is started again takes the place of the one that died.
std::string quick_group(const matrix_world& world, int worker) {
  const time_limits limits = limits_of(world.on);
  const std::string place = "&group.instance.id=worker-" + std::to_string(worker);
  return "?group=" + world.job + "&until=end&session.timeout.ms=" + std::to_string(limits.session) +
         "&retry_for=" + std::to_string(limits.retry) + "ms" +
         "&heartbeat.interval.ms=100&fetch.wait.max.ms=20&max.partition.fetch.bytes=2000" +
         (world.on.outlasts_brokers ? place : "");
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
void produce_in_small_batches(kafka_client& kafka, const std::string& topic,
                              const std::vector<std::string>& lines) {
  constexpr std::size_t batch = 20;
  std::vector<std::vector<kafka_client::message>> parts(partitions);
  const auto flush = [&](std::size_t p) {
    kafka.produce(topic, static_cast<std::int32_t>(p), std::exchange(parts[p], {}));
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    parts[i % partitions].push_back({lines[i]});
    if (parts[i % partitions].size() == batch) flush(i % partitions);
  }
  std::int64_t there = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    flush(p);
    there += kafka.end_of(topic, static_cast<std::int32_t>(p));
  }
  if (there != static_cast<std::int64_t>(lines.size()))
    throw std::runtime_error(topic + " has " + std::to_string(there) + " of " + std::to_string(lines.size()) +
                             " events");
}

}  // namespace

matrix_source from_kafka(kafka_way kafka) {
  return {"kafka",
          [kafka](const matrix_world& world) {
            const std::string topic = "clicks-" + world.job;
            kafka_client client(kafka.broker.address());
            client.create_topic(topic, partitions);
            produce_in_small_batches(client, topic, world.clicks.lines);
          },
          [kafka](const matrix_world& world, int worker) {
            return std::vector<std::string>{
                "--from", kafka.gate.url("clicks-" + world.job, quick_group(world, worker))};
          },
          false};
}

namespace {

/// The fault of a topic. What a dead worker left open hides what others have committed until its time limit.
std::string fault_of_topic(const kafka_way& kafka, const matrix_world& world, bool at_least_once) {
  const auto patience = std::chrono::steady_clock::now() +
                        std::chrono::milliseconds(std::max(120'000, 2 * limits_of(world.on).transaction));
  for (;;) {
    std::string text;
    for (const auto& each : kafka_client(kafka.broker.address()).read("fresh-" + world.job))
      (text += each.value) += '\n';
    const std::string fault = fault_of_lines(world.clicks, text, at_least_once);
    if (fault.empty() || std::chrono::steady_clock::now() > patience) return fault;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

matrix_sink to_topic(const std::string& name, const kafka_way& kafka, bool at_least_once) {
  matrix_sink sink{
      name,
      [kafka](const matrix_world& world, int worker) {
        return std::vector<std::string>{
            "--to",
            kafka.gate.url("fresh-" + world.job,
                           "?transactional.id=count-" + world.job + '-' + std::to_string(worker) +
                               "&transaction.timeout.ms=" + std::to_string(limits_of(world.on).transaction) +
                               "&retry_for=" + std::to_string(limits_of(world.on).retry) + "ms")};
      },
      [kafka, at_least_once](const matrix_world& world, const std::string&) {
        return fault_of_topic(kafka, world, at_least_once);
      }};
  sink.prepare = [kafka](const matrix_world& world) {
    kafka_client(kafka.broker.address()).create_topic("fresh-" + world.job, 4);
  };
  return sink;
}

}  // namespace

matrix_sink to_kafka(kafka_way kafka) {
  return to_topic("kafka", kafka, false);
}

matrix_sink to_kafka_without_transactions(kafka_way kafka) {
  return to_topic("kafka", kafka, true);
}

}  // namespace everseen::test
