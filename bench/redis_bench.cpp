// Question: does one client load several servers equally, and how long does `everseen dedup` take through a
// filter on a plain server? (Clients judge; journal_bench.cpp and module_bench.cpp have the costs of keys.)
//
// Real servers over loopback TCP. `client/redis` compares the CPU time of client and server, which is
// meaningful on a busy machine, too. Verdicts are checked before anything is printed.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "everseen/redis/redis_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

redis_server& server(std::size_t number = 0) {
  static std::array<std::unique_ptr<redis_server>, 3> all;
  if (!all.at(number)) all.at(number) = std::make_unique<redis_server>();
  return *all.at(number);
}

/// Does one client load three independent servers equally? `cpu_spread` is the largest CPU time divided by
/// the smallest, minus 1.
///
/// The run is long, and each server has the same number of partitions, so that it measures the client and
/// not chance.
void three_instances(benchmark::State& state) {
  constexpr std::size_t count = 3'000'000;
  redis::redis_store store(redis::parse_redis_url("redis://" + server(0).address() + "," +
                                                  server(1).address() + "," + server(2).address()));
  const auto digests = random_digests(count, 11);
  double wall = 0;
  std::array<double, 3> cpu{};
  for (auto _ : state) {
    const spec s = store.plan({.capacity = count, .error_rate = 1e-4, .partitions = 12});
    const auto filter = store.create("three", s);
    std::vector<std::vector<digest>> parts(s.partitions);
    for (const digest& d : digests) parts[partition_of(d, s.partitions)].push_back(d);
    for (std::size_t i = 0; i < 3; ++i) cpu[i] -= server(i).cpu_seconds();
    tally got;
    const double took = seconds([&] {
      constexpr std::size_t piece = 1'000;
      std::vector<std::vector<verdict>> out(s.partitions, std::vector<verdict>(piece));
      for (std::size_t from = 0;; from += piece) {
        std::vector<partition_batch> batches;
        for (std::uint32_t p = 0; p < s.partitions; ++p) {
          if (from >= parts[p].size()) continue;
          const std::size_t n = std::min(piece, parts[p].size() - from);
          batches.push_back({p, std::span(parts[p]).subspan(from, n), {}, std::span(out[p]).first(n)});
        }
        if (batches.empty()) break;
        const auto result = filter->add(batches);
        require(result.has_value(), result ? "" : result.error().message);
        got += *result;
      }
    });
    require(got.fresh >= count - 500 && got.fresh + got.seen == count, "verdicts");
    for (std::size_t i = 0; i < 3; ++i) cpu[i] += server(i).cpu_seconds();
    wall += took;
    state.SetIterationTime(took);
    for (std::size_t i = 0; i < 3; ++i) server(i).clear();
  }
  state.counters["keys/s"] = static_cast<double>(count * state.iterations()) / wall;
  state.counters["cpu_spread"] = *std::ranges::max_element(cpu) / *std::ranges::min_element(cpu) - 1;
}
BENCHMARK(three_instances)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

/// How long does `everseen dedup` take for ten million words, 90 MB, through a filter on a server?
void dedup_shared(benchmark::State& state) {
  static const std::string words = [] {
    const std::string path = (std::filesystem::temp_directory_path() / "everseen-bench-words").string();
    require(std::system((EVERSEEN_PROGRAM " gen words --count 10000000 > " + path).c_str()) == 0, "gen");
    return path;
  }();
  const std::string command = EVERSEEN_PROGRAM
                              " dedup --filter words --error-rate 1e-4 --capacity 10000000 --store '" +
                              server().url() + "' " + words + " | wc -l > " + words + ".count";
  double cpu = 0, client = 0;
  for (auto _ : state) {
    const double cpu_before = server().cpu_seconds();
    const double client_before = children_cpu_seconds();
    state.SetIterationTime(seconds([&] { require(std::system(command.c_str()) == 0, command); }));
    cpu += server().cpu_seconds() - cpu_before;
    client += children_cpu_seconds() - client_before;
    std::size_t lines = 0;
    std::ifstream(words + ".count") >> lines;
    // 9,253,885 of the words are different; at most one in ten thousand of them is a false positive.
    require(lines <= 9'253'885 && lines >= 9'252'500, std::to_string(lines) + " lines");
    server().clear();
  }
  state.counters["redis_s"] = cpu / static_cast<double>(state.iterations());
  state.counters["client/redis"] = client / cpu;
}
BENCHMARK(dedup_shared)->UseManualTime()->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace everseen::bench
