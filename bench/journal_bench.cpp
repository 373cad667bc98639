// Question: how many keys a second does a filter accept that its clients judge, what does a key cost the
// server, and how far is this from the same work in memory?
//
// A real redis-server, reached over its Unix socket. Verdicts are checked before anything is printed: the
// whole commands must print the same lines as the run in memory.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/redis/redis_store.hpp"

#include "bench/published_way.hpp"
#include "bench/support.hpp"
#include "bench/timed_command.hpp"

namespace everseen::bench {
namespace {

redis_server& server() {
  static redis_server one;
  return one;
}

tally add(everseen::filter& to, std::span<const digest> keys) {
  constexpr std::size_t batch_keys = 50'000;  // a block of half a megabyte, as dedup reads them
  tally sum;
  std::vector<verdict> out(batch_keys);
  for (std::size_t from = 0; from < keys.size(); from += batch_keys) {
    const auto some = keys.subspan(from, std::min(batch_keys, keys.size() - from));
    const auto result = to.add_digests(some, std::span(out).first(some.size()));
    require(result.has_value(), result ? "" : result.error().message);
    sum += *result;
  }
  return sum;
}

/// One thread that waits for every answer. The filter's error rate is 10 to the power of minus the argument.
void judged_by_clients(benchmark::State& state, bool known) {
  constexpr std::size_t count = 1'000'000;
  const double rate = std::pow(10.0, -static_cast<double>(state.range(0)));
  const auto digests = random_digests(count, 11);
  double cpu = 0, own = 0, wall = 0;
  published_way peer;
  for (auto _ : state) {
    redis::redis_store store(redis::parse_redis_url(server().unix_url()));
    everseen::filter filter(
        "bench",
        store.create("bench",
                     store.plan({.capacity = 2 * count, .error_rate = rate, .judge = judge_kind::client})));
    peer.measure(server(), static_cast<unsigned>(std::ceil(-std::log2(rate))));
    if (known) (void)add(filter, digests);
    const double cpu_before = server().cpu_seconds();
    const double own_before = own_cpu_seconds();
    tally got;
    const double took = seconds([&] { got = add(filter, digests); });
    own += own_cpu_seconds() - own_before;
    cpu += server().cpu_seconds() - cpu_before;
    wall += took;
    require(known ? got.seen == count : static_cast<double>(got.seen) <= 10 + 3 * rate * count, "verdicts");
    state.SetIterationTime(took);
    server().clear();
  }
  const double keys = static_cast<double>(count) * static_cast<double>(state.iterations());
  state.counters["keys/s"] = keys / wall;
  state.counters["redis_us/key"] = 1e6 * cpu / keys;
  state.counters["client_us/key"] = 1e6 * own / keys;
  state.counters["vs_published"] = keys / wall / peer.keys_a_second();
}
BENCHMARK_CAPTURE(judged_by_clients, add_new, false)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("rate=1e-")
    ->Arg(2)
    ->Arg(6)
    ->Arg(9);
BENCHMARK_CAPTURE(judged_by_clients, add_known, true)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("rate=1e-")
    ->Arg(6);

/// Ten million words, 90 MB, cut into eight pieces, and the distinct words among them.
class words {
 public:
  static const words& instance() {
    static const words one;
    return one;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] double seconds_in_memory() const { return in_memory_; }

 private:
  words() {
    run(EVERSEEN_PROGRAM " gen words --count 10000000 > " + path("words"));
    run("cd " + path("") + " && split --number=l/8 --numeric-suffixes words piece.");
    run("LC_ALL=C sort -u " + path("words") + " > " + path("exact"));
    for (int i = 0; i < 3; ++i)
      in_memory_ = std::min(in_memory_, run(EVERSEEN_PROGRAM " dedup --capacity 10M --error-rate 1e-6 " +
                                            path("words") + " > " + path("in-memory"))
                                            .seconds);
  }
  temporary_folder folder_;
  double in_memory_ = 1e9;
};

/// How long does a number of processes take that share the words and a filter? Together they must print each
/// distinct word once, except for one in a million that is a false positive. `vs_memory` is the time divided
/// by that of one process with the filter in memory.
void dedup_by_clients(benchmark::State& state) {
  const auto processes = static_cast<int>(state.range(0));
  const words& all = words::instance();
  const std::string store = server().unix_url();
  std::string command = "set -e; cd " + all.path("") + "; ";
  for (int p = 0; p < processes; ++p) {
    command += "cat";
    for (int piece = p * 8 / processes; piece < (p + 1) * 8 / processes; ++piece)
      command += " piece.0" + std::to_string(piece);
    command += " | " EVERSEEN_PROGRAM " dedup --filter words --store " + store + " > out." +
               std::to_string(p) + " 2>/dev/null & ";
  }
  command += "wait";
  double cpu = 0, wall = 0;
  for (auto _ : state) {
    run(EVERSEEN_PROGRAM " create words --judge client --capacity 10M --error-rate 1e-6 --store " + store +
        " > /dev/null 2>&1");
    const double cpu_before = server().cpu_seconds();
    const double took = run(command).seconds;
    cpu += server().cpu_seconds() - cpu_before;
    wall += took;
    state.SetIterationTime(took);
    run("cd " + all.path("") +
        " && LC_ALL=C sort out.* > sorted && LC_ALL=C uniq -d sorted | wc -l > twice && "
        "LC_ALL=C comm -13 sorted exact | wc -l > missing && LC_ALL=C comm -23 sorted exact | wc -l > "
        "foreign && "
        "rm out.* sorted");
    long twice = -1, missing = -1, foreign = -1;
    std::ifstream(all.path("twice")) >> twice;
    std::ifstream(all.path("missing")) >> missing;
    std::ifstream(all.path("foreign")) >> foreign;
    require(twice == 0 && foreign == 0 && missing >= 0 && missing < 30,
            std::to_string(twice) + " words twice, " + std::to_string(missing) + " missing");
    server().clear();
  }
  const double fresh = 9'253'885.0 * static_cast<double>(state.iterations());
  state.counters["keys/s"] = 1e7 * static_cast<double>(state.iterations()) / wall;
  state.counters["redis_us/fresh"] = 1e6 * cpu / fresh;
  state.counters["vs_memory"] = wall / static_cast<double>(state.iterations()) / all.seconds_in_memory();
}
BENCHMARK(dedup_by_clients)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("processes")
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->Arg(8);

}  // namespace
}  // namespace everseen::bench
