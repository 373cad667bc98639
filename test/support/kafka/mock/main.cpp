// Brokers of Kafka for benchmarks and manual tests.
//
//   kafka_mock [--brokers N] [--topic NAME:PARTITIONS[:EVENTS]]...
//
// Prints the address of its brokers, as host:port,host:port, when all topics have their events: clicks as
// JSON, a twentieth of them repeats. Ends when its standard input ends.

#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/url_text.hpp"

#include "test/support/kafka/kafka_cluster.hpp"

namespace {

using everseen::read_number;
using everseen::test::kafka_cluster;
using everseen::url_text::split;

std::string click(std::uint64_t number, std::mt19937_64& random) {
  if (number > 100 && random() % 20 == 0) number -= random() % 100 + 1;
  return "{\"id\":\"" + std::to_string(number * 2654435761U) +
         "\",\"time\":" + std::to_string(1700000000 + number / 10'000) + ",\"site\":\"site-" +
         std::to_string(number % 20) + "\",\"country\":\"" + (number % 3 == 0 ? "de" : "fr") + "\"}";
}

/// Repeats are in the partition of their original, as with partitioning by key.
void fill(kafka_cluster& kafka, const std::string& topic, std::uint64_t partitions, std::uint64_t events) {
  std::mt19937_64 random(1);
  for (std::uint64_t p = 0; p < partitions; ++p) {
    const std::uint64_t from = events * p / partitions, end = events * (p + 1) / partitions;
    std::vector<kafka_cluster::message> messages;
    for (std::uint64_t i = from; i < end; ++i) messages.push_back({click(i, random)});
    kafka.produce(topic, static_cast<std::int32_t>(p), messages);
  }
}

int run(const std::vector<std::string>& words) {
  int brokers = 1;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2)
    if (words[i] == "--brokers") brokers = static_cast<int>(read_number(words[i + 1]).value_or(1));
  kafka_cluster kafka(brokers);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    if (words[i] != "--topic") continue;
    const auto parts = split(words[i + 1], ':');
    const std::string name(parts[0]);
    const auto number = [&](std::size_t part, std::uint64_t otherwise) {
      return part < parts.size() ? read_number(parts[part]).value_or(otherwise) : otherwise;
    };
    kafka.create_topic(name, static_cast<int>(number(1, 1)));
    fill(kafka, name, number(1, 1), number(2, 0));
  }
  std::printf("%s\n", kafka.brokers().c_str());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words, words + count});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kafka_mock: %s\n", e.what());
    return 1;
  }
}
