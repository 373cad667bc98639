#include "test/support/crash_matrix_brokers.hpp"

#include <sstream>

namespace everseen::test {

namespace {

constexpr std::int32_t partitions = 8;

/// A worker that died is given up soon, not after the default of 45 s; but the mock's groups wait 3 s for
/// their members, and a member whose session is shorter would be given up meanwhile, for ever.
std::string quick_group(const std::string& name) {
  return "?group=" + name +
         "&until=end&session.timeout.ms=3500&heartbeat.interval.ms=100&fetch.wait.max.ms=20";
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
          [](matrix_world& world) {
            for (const std::string& line : world.clicks.lines)
              world.store.run({"XADD", "clicks-" + world.job, "*", "event", line});
          },
          [](const matrix_world& world) {
            return std::vector<std::string>{
                "--from", "redis-stream:clicks-" + world.job +
                              "?group=g&consumer=w&field=event&claim_after=200ms&until=end"};
          },
          false};
}

matrix_sink to_redis_stream() {
  return {"redis_stream",
          [](const matrix_world& world) {
            return std::vector<std::string>{"--to", "redis-stream:fresh-" + world.job};
          },
          [](const matrix_world& world, const std::string&) {
            return fault_of_lines(world.clicks, entries_of(world.store, "fresh-" + world.job), false);
          }};
}

matrix_source from_kafka(kafka_cluster& kafka) {
  return {
      "kafka",
      [&kafka](matrix_world& world) {
        const std::string topic = "clicks-" + world.job;
        kafka.create_topic(topic, partitions);
        std::vector<std::vector<kafka_cluster::message>> parts(partitions);
        for (std::size_t i = 0; i < world.clicks.lines.size(); ++i)
          parts[i % partitions].push_back({world.clicks.lines[i]});
        for (std::int32_t p = 0; p < partitions; ++p)
          kafka.produce(topic, p, parts[static_cast<std::size_t>(p)]);
      },
      [&kafka](const matrix_world& world) {
        return std::vector<std::string>{"--from", kafka.url("clicks-" + world.job, quick_group(world.job))};
      },
      false};
}

matrix_sink to_kafka(kafka_cluster& kafka) {
  return {"kafka",
          [&kafka](const matrix_world& world) {
            return std::vector<std::string>{
                "--to", kafka.url("fresh-" + world.job, "?transactional.id=count-" + world.job)};
          },
          [&kafka](const matrix_world& world, const std::string&) {
            std::string text;
            for (const auto& each : kafka.read("fresh-" + world.job)) (text += each.value) += '\n';
            return fault_of_lines(world.clicks, text, true);
          }};
}

}  // namespace everseen::test
