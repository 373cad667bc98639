// Question: how many events a second does a job judge and count through one server, judged by clients and by
// the module?
//
// A real server over loopback, two lanes on two threads of this process, claims of 20,000 events, settled
// after every eighth claim. Every event raises two counters: one for each of 50 sites and each minute, and
// one of 200 countries. One key in four is a repeat. `events/s` is end to end; `server_ns/event` is the
// server's own CPU time (INFO). Counters are compared with the number of fresh events.

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "everseen/filter/scatter.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

#ifdef EVERSEEN_MODULE

namespace everseen::bench {
namespace {

constexpr std::size_t claim_events = 20'000;
constexpr std::size_t sites = 50, countries = 200, minutes = 10;

redis_server& server(bool with_module) {
  static std::array<std::unique_ptr<redis_server>, 2> all;
  auto& one = all[with_module ? 1 : 0];
  if (!one)
    one = std::make_unique<redis_server>(
        with_module ? std::vector<std::string>{"--loadmodule", EVERSEEN_MODULE} : std::vector<std::string>{});
  return *one;
}

std::vector<std::string> counter_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sites * minutes; ++i)
    names.push_back("0\t2026-01-01T00:0" + std::to_string(i / sites) + ":00Z\tsite-" +
                    std::to_string(i % sites));
  for (std::size_t i = 0; i < countries; ++i) names.push_back("1\tcountry-" + std::to_string(i));
  return names;
}

/// The events of one lane, through its own ledger.    @return the number of fresh events
std::uint64_t run_lane(stored_filter& in, std::span<const digest> keys, const std::string& lane,
                       bool counts) {
  const auto job = in.open_ledger("count", "");
  const auto texts = counter_names();
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  claim_scatter scatter;
  std::vector<std::uint64_t> positions(claim_events);
  std::vector<std::uint32_t> counters(claim_events * 2);
  std::uint64_t fresh = 0, settled = 0;
  for (std::size_t from = 0; from < keys.size(); from += claim_events) {
    const std::size_t minute = from * minutes / keys.size();
    for (std::size_t i = 0; i < claim_events; ++i) {
      positions[i] = from + i;
      counters[2 * i] = static_cast<std::uint32_t>(minute * sites + keys[from + i].low % sites);
      counters[2 * i + 1] = static_cast<std::uint32_t>(sites * minutes + keys[from + i].high % countries);
    }
    const increments raised = counts ? increments{names, counters, 2} : increments{};
    const auto batches =
        scatter.sort({keys.subspan(from, claim_events), positions, {}, raised}, in.get_spec().partitions);
    const auto result = job->claim({lane, settled}, batches);
    require(result.has_value(), result ? "" : result.error().message);
    fresh += result->fresh;
    if (from / claim_events % 8 != 7) continue;
    settled = from + claim_events;
    const checkpoint reached{lane, settled};
    job->settle(std::span(&reached, 1));
  }
  return fresh;
}

void claims(benchmark::State& state, bool by_module) {
  const auto count = static_cast<std::size_t>(by_module ? 4'000'000 : 1'000'000);
  std::array<std::vector<digest>, 2> keys;
  for (std::size_t lane = 0; lane < 2; ++lane) {
    keys[lane] = random_digests(count / 2, 20 + lane);
    for (std::size_t i = 0; i < keys[lane].size(); i += 4) keys[lane][i] = keys[lane][i / 2];
  }
  double wall = 0, cpu = 0;
  for (auto _ : state) {
    redis_server& by = server(by_module);
    redis::redis_store store(redis::parse_redis_url(by.url()));
    const double rate = 1.0 / static_cast<double>(state.range(0));
    const auto filter =
        store.create("judged", store.plan({.capacity = count, .error_rate = rate, .partitions = 8}));
    std::array<std::uint64_t, 2> fresh{};
    const double before = by.cpu_seconds();
    const double took = seconds([&] {
      std::vector<std::jthread> threads;
      for (std::size_t lane = 0; lane < 2; ++lane)
        threads.emplace_back([&, lane] {
          // like a separate program
          const auto own = store.open("judged", access::write);
          fresh[lane] = run_lane(*own, keys[lane], "lane/" + std::to_string(lane), true);
        });
    });
    cpu += by.cpu_seconds() - before;
    wall += took;
    state.SetIterationTime(took);
    std::int64_t counted = 0;
    filter->open_ledger("count", "")->visit_counters([&](std::string_view, std::int64_t value) {
      counted += value;
    });
    require(counted == static_cast<std::int64_t>(2 * (fresh[0] + fresh[1])), "counters");
    store.drop("judged");
  }
  const double events = static_cast<double>(count) * static_cast<double>(state.iterations());
  state.counters["events/s"] = events / wall;
  state.counters["server_ns/event"] = 1e9 * cpu / events;
}

/// One lane on one thread.
void embedded(benchmark::State& state, const char* url, sync_policy policy) {
  constexpr std::size_t count = 4'000'000;
  auto keys = random_digests(count, 20);
  for (std::size_t i = 0; i < keys.size(); i += 4) keys[i] = keys[i / 2];
  double wall = 0;
  for (auto _ : state) {
    const std::string folder = std::filesystem::temp_directory_path() / "everseen-claim-bench";
    std::unique_ptr<store> place;
    if (*url == 'm')
      place = std::make_unique<memory_store>();
    else
      place = std::make_unique<file_store>(folder, policy);
    const auto filter = place->create(
        "judged", make_spec({.capacity = count, .error_rate = 1.0 / static_cast<double>(state.range(0))}));
    std::uint64_t fresh = 0;
    const double took = seconds([&] { fresh = run_lane(*filter, keys, "lane", false); });
    require(fresh > count * 7 / 10, "fresh events");
    wall += took;
    state.SetIterationTime(took);
    std::filesystem::remove_all(folder);
  }
  state.counters["events/s"] = static_cast<double>(count) * static_cast<double>(state.iterations()) / wall;
}

void shapes(benchmark::internal::Benchmark* b) {
  b->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond)
      ->ArgName("1/rate")
      ->Arg(100)
      ->Arg(1'000'000);
}
BENCHMARK_CAPTURE(claims, clients, false)->Apply(shapes);
BENCHMARK_CAPTURE(claims, module, true)->Apply(shapes);
BENCHMARK_CAPTURE(embedded, claims_memory, "mem:", sync_policy::never)->Apply(shapes);
BENCHMARK_CAPTURE(embedded, claims_file, "file:", sync_policy::interval)->Apply(shapes);

}  // namespace
}  // namespace everseen::bench

#endif
