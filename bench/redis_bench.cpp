// Question: what throughput do Redis servers reach, what does a key cost them, and how much faster is that
// than the published way?
//
// Real servers over loopback TCP. `vs_published` is the rate divided by that of a SETBIT for each bit, one
// pipeline a key, with the same number of bits, measured just before. `cpu_vs_published` compares the CPU
// time of client and server together, which is meaningful on a busy machine, too. `redis_keys/s` uses the
// server's own CPU time (INFO), because wall time includes this process and other work on the machine.
// Verdicts are checked before anything is printed.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "everseen/core/layout/layout.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/redis/redis_store.hpp"

#include "bench/published_way.hpp"
#include "bench/redis_server.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

redis_server& server(std::size_t number = 0) {
  static std::array<std::unique_ptr<redis_server>, 3> all;
  if (!all.at(number)) all.at(number) = std::make_unique<redis_server>();
  return *all.at(number);
}

/// A filter for a million keys, with its first layers. It has four partitions, like a filter for many
/// million keys, so that one is served while the answer for another travels.
struct shared_filter {
  shared_filter(const std::string& options, double rate)
      : store(redis::parse_redis_url(server().url(options))),
        filter(
            "bench",
            store.create("bench", store.plan({.capacity = 1'000'000, .error_rate = rate, .partitions = 4}))) {
    (void)run(random_digests(1'000, 13), true);
  }
  ~shared_filter() { server().clear(); }
  shared_filter(const shared_filter&) = delete;
  shared_filter& operator=(const shared_filter&) = delete;

  tally run(std::span<const digest> keys, bool add) {
    constexpr std::size_t batch_keys = 50'000;  // a block of half a megabyte, as dedup reads them
    tally sum;
    std::vector<verdict> out(batch_keys);
    for (std::size_t from = 0; from < keys.size(); from += batch_keys) {
      const auto some = keys.subspan(from, std::min(batch_keys, keys.size() - from));
      const auto verdicts = std::span(out).first(some.size());
      const auto result =
          add ? filter.add_digests(some, verdicts) : filter.may_contain_digests(some, verdicts);
      require(result.has_value(), result ? "" : result.error().message);
      sum += *result;
    }
    return sum;
  }

  redis::redis_store store;
  everseen::filter filter;
};

enum class what { add_new, add_known, check_new, check_known };

/// The filter's error rate is 10 to the power of minus the argument.
void commands(benchmark::State& state, const std::string& options, what asked) {
  constexpr std::size_t count = 200'000;
  const double rate = std::pow(10.0, -static_cast<double>(state.range(0)));
  const bool adds = asked == what::add_new || asked == what::add_known;
  const bool known = asked == what::add_known || asked == what::check_known;
  const auto digests = random_digests(count, 11);
  const auto others = random_digests(count, 12);
  double cpu = 0, own = 0, wall = 0;
  published_way peer;
  unsigned probes = 0;
  for (auto _ : state) {
    shared_filter f(options, rate);
    probes = f.filter.get_spec().probes;
    peer.measure(server(), probes);
    if (known || asked == what::check_new) (void)f.run(digests, true);
    const double cpu_before = server().cpu_seconds();
    const double own_before = own_cpu_seconds();
    tally got;
    const double took = seconds([&] { got = f.run(asked == what::check_new ? others : digests, adds); });
    own += own_cpu_seconds() - own_before;
    cpu += server().cpu_seconds() - cpu_before;
    wall += took;
    const std::uint64_t wrong = known ? got.fresh : got.seen;
    require(static_cast<double>(wrong) <= (known ? 0 : 10 + 3 * rate * count) && got.unknown == 0,
            "verdicts");
    state.SetIterationTime(took);
  }
  const double keys = static_cast<double>(count) * static_cast<double>(state.iterations());
  state.counters["keys/s"] = keys / wall;
  state.counters["redis_keys/s"] = keys / cpu;
  state.counters["redis_us/key"] = 1e6 * cpu / keys;
  state.counters["client/redis"] = own / cpu;
  state.counters["probes"] = probes;
  state.counters["vs_published"] = keys / wall / peer.keys_a_second();
  state.counters["cpu_vs_published"] = peer.cpu_seconds_a_key() / ((own + cpu) / keys);
}

void rates(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond)->ArgName("rate=1e-");
}

BENCHMARK_CAPTURE(commands, script_add_new, "?commands=script", what::add_new)
    ->Apply(rates)
    ->Arg(2)
    ->Arg(4)
    ->Arg(6);
BENCHMARK_CAPTURE(commands, script_add_known, "?commands=script", what::add_known)->Apply(rates)->Arg(6);
BENCHMARK_CAPTURE(commands, script_check_new, "?commands=script", what::check_new)->Apply(rates)->Arg(6);
BENCHMARK_CAPTURE(commands, script_check_known, "?commands=script", what::check_known)->Apply(rates)->Arg(6);

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
void dedup_shared(benchmark::State& state, const std::string& options) {
  static const std::string words = [] {
    const std::string path = (std::filesystem::temp_directory_path() / "everseen-bench-words").string();
    require(std::system((EVERSEEN_PROGRAM " gen words --count 10000000 > " + path).c_str()) == 0, "gen");
    return path;
  }();
  const std::string command = EVERSEEN_PROGRAM
                              " dedup --filter words --error-rate 1e-4 --capacity 10000000 --store '" +
                              server().url(options) + "' " + words + " | wc -l > " + words + ".count";
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
BENCHMARK_CAPTURE(dedup_shared, script, "?commands=script")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace everseen::bench
