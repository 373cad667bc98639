// Question: where clients judge, do three servers reach three times the throughput of one, and if not, what
// is busy?
//
// Real servers over loopback; one process whose threads add batches of 50,000 fresh keys to one filter,
// first on one server, then on three. `vs_one` is the rate on three divided by that on one. `vs_thrice` is
// the rate on three divided by their maximum: three times the keys that one server handles in a second of
// its CPU time. It is near 1 where the servers are always busy.
//
// The shares show what is busy, each in cores, CPU time divided by wall time: `client` is this process,
// `most_busy` and `least_busy` are servers, `all` is client and servers together. If `all` is near the
// number of the machine's cores, the machine is the limit; if `client` is near the number of threads, the
// client is; otherwise they wait for each other. `one_client` and `one_busy` are client and server with one
// server.
//
// All keys are added a second time before anything is printed, and each must be `seen`.

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/redis/redis_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t keys = 6'000'000;
constexpr std::size_t batch_keys = 50'000;  // a block of `dedup`

class fleet {
 public:
  explicit fleet(std::size_t servers) {
    for (std::size_t i = 0; i < servers; ++i) servers_.push_back(std::make_unique<redis_server>());
  }
  [[nodiscard]] std::string url() const {
    std::string all;
    for (const auto& s : servers_) all += (all.empty() ? "redis://" : ",") + s->address();
    return all;
  }
  [[nodiscard]] std::vector<double> cpu_seconds() {
    std::vector<double> all;
    for (const auto& s : servers_) all.push_back(s->cpu_seconds());
    return all;
  }
  void clear() {
    for (const auto& s : servers_) s->clear();
  }

 private:
  std::vector<std::unique_ptr<redis_server>> servers_{};
};

/// The cost of adding all keys.
struct cost {
  double seconds = 0, client_cpu = 0;
  std::vector<double> redis_cpu{};  // of each server

  cost& operator+=(const cost& o) {
    seconds += o.seconds;
    client_cpu += o.client_cpu;
    redis_cpu.resize(o.redis_cpu.size());
    for (std::size_t i = 0; i < redis_cpu.size(); ++i) redis_cpu[i] += o.redis_cpu[i];
    return *this;
  }
};

/// Each thread adds the batches of its own share.
tally add(everseen::filter& to, std::span<const digest> all, std::size_t threads) {
  std::vector<tally> sums(threads);
  {
    std::vector<std::jthread> running;
    for (std::size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        const auto own = all.subspan(t * all.size() / threads, all.size() / threads);
        std::vector<verdict> out(batch_keys);
        for (std::size_t from = 0; from < own.size(); from += batch_keys) {
          const auto some = own.subspan(from, std::min(batch_keys, own.size() - from));
          const auto got = to.add_digests(some, std::span(out).first(some.size()));
          require(got.has_value(), got ? "" : got.error().message);
          sums[t] += *got;
        }
      });
  }
  tally sum;
  for (const tally& one : sums) sum += one;
  return sum;
}

cost add_to(fleet& servers, std::span<const digest> digests, std::size_t threads) {
  redis::redis_store store(redis::parse_redis_url(servers.url()));
  everseen::filter filter("fleet", store.create("fleet", store.plan({.capacity = 2 * keys,
                                                                     .error_rate = 1e-6,
                                                                     .partitions = 24,
                                                                     .judge = judge_kind::client})));
  cost took;
  took.redis_cpu = servers.cpu_seconds();
  took.client_cpu = own_cpu_seconds();
  tally got;
  took.seconds = seconds([&] { got = add(filter, digests, threads); });
  took.client_cpu = own_cpu_seconds() - took.client_cpu;
  const std::vector<double> after = servers.cpu_seconds();
  for (std::size_t i = 0; i < after.size(); ++i) took.redis_cpu[i] = after[i] - took.redis_cpu[i];
  require(got.fresh + got.seen == keys && got.seen <= 25, std::to_string(got.seen) + " fresh keys are seen");
  require(add(filter, digests, threads).seen == keys, "a key that was added is not seen");
  servers.clear();
  return took;
}

/// As many threads as the argument says.
void three_servers_judged_by_clients(benchmark::State& state) {
  static fleet one(1), three(3);
  const auto threads = static_cast<std::size_t>(state.range(0));
  const auto digests = random_digests(keys, 11);
  cost alone, together;
  for (auto _ : state) {
    alone += add_to(one, digests, threads);
    const cost took = add_to(three, digests, threads);
    state.SetIterationTime(took.seconds);
    together += took;
  }
  const double all = static_cast<double>(keys) * static_cast<double>(state.iterations());
  const auto [least, most] = std::ranges::minmax(together.redis_cpu);
  state.counters["keys/s"] = all / together.seconds;
  state.counters["one_keys/s"] = all / alone.seconds;
  state.counters["one_busy"] = alone.redis_cpu.front() / alone.seconds;
  state.counters["one_client"] = alone.client_cpu / alone.seconds;
  state.counters["client"] = together.client_cpu / together.seconds;
  state.counters["most_busy"] = most / together.seconds;
  state.counters["least_busy"] = least / together.seconds;
  state.counters["all"] =
      std::accumulate(together.redis_cpu.begin(), together.redis_cpu.end(), together.client_cpu) /
      together.seconds;
  state.counters["vs_one"] = alone.seconds / together.seconds;
  state.counters["vs_thrice"] = all / together.seconds / (3 * all / alone.redis_cpu.front());
}
BENCHMARK(three_servers_judged_by_clients)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Arg(4);

}  // namespace
}  // namespace everseen::bench
