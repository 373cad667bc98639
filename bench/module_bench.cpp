// Question: what does a key cost if the Redis module judges it, end to end and in server time, and how much
// less is that than with SETBIT?
//
// A real server with the module, over loopback and over its Unix socket. `keys/s` is end to end, through the
// store, with four threads of this process: some batches are in flight while others are prepared, so the
// server never waits. `packed/*/MiB:32/partitions:40` is a filter for a billion keys at 1e-2.
//
// `server_ns/key` is the server's own CPU time (INFO). `vs_setbit` compares server time with that of
// SETBIT ×k, pipelined across keys, measured in this run. Verdicts are checked.

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "everseen/core/layout/layout.hpp"
#include "everseen/redis/redis_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

#ifdef EVERSEEN_MODULE

namespace everseen::bench {
namespace {

redis_server& server() {
  static redis_server one({"--loadmodule", EVERSEEN_MODULE});
  return one;
}

constexpr std::size_t batch_keys = 10'000;
constexpr std::size_t clients = 4;

/// Nanoseconds of server time for each of `keys` keys, while `work` judges them.
template <typename Work>
double server_ns(std::size_t keys, Work work) {
  const double before = server().cpu_seconds();
  work();
  return 1e9 * (server().cpu_seconds() - before) / static_cast<double>(keys);
}

double setbit_ns(unsigned probes) {
  constexpr std::size_t keys = 20'000;
  static std::array<double, max_probes + 1> known{};
  if (known.at(probes) > 0) return known.at(probes);
  const geometry shape{layout_kind::classic, static_cast<std::uint8_t>(probes), std::uint64_t{16} << 20};
  std::array<std::uint64_t, max_probes> positions{};
  std::string wire;
  std::size_t bits = 0;
  for (const digest& d : random_digests(keys, 5)) {
    const std::size_t count = bit_positions(shape, d, positions);
    bits += count;
    for (std::size_t i = 0; i < count; ++i)
      wire += redis::encode({"SETBIT", "published", std::to_string(positions[i]), "1"});
  }
  const redis::request r{{}, std::move(wire), bits, true};
  known.at(probes) = server_ns(keys, [&] {
    require(server().connections().exchange(std::span(&r, 1)).front().has_value(), "SETBIT");
  });
  (void)server().connections().ask({}, {"UNLINK", "published"});
  return known.at(probes);
}

/// A filter with this many partitions of `mib` MiB each, and their segments.
struct judged_filter {
  judged_filter(const std::string& url, std::size_t mib, std::uint32_t partitions, layout_kind layout)
      : store(redis::parse_redis_url(url)) {
    const double bits = 8.0 * 1024 * 1024 * static_cast<double>(mib) * 0.99;
    spec_request wanted{
        .error_rate = 0.005, .layout = layout, .growth = growth_kind::overfill, .partitions = partitions};
    if (layout == layout_kind::two_line_8x64) wanted.error_rate = 1e-6;
    // A segment includes room for a partition that gets five standard deviations more than its share.
    const double bits_a_key = layout == layout_kind::two_line_8x64 ? 31.5 : 11.6;
    wanted.capacity = static_cast<std::uint64_t>(bits / bits_a_key * partitions);
    filter = store.create("judged", store.plan(wanted));
    std::vector<verdict> out(1);
    for (std::uint32_t p = 0; p < partitions; ++p) {
      const auto one = random_digests(1, 1000 + p);
      const partition_batch batch{p, one, {}, out};
      require(filter->add(std::span(&batch, 1)).has_value(), "the segment");
    }
  }
  ~judged_filter() { store.drop("judged"); }
  judged_filter(const judged_filter&) = delete;
  judged_filter& operator=(const judged_filter&) = delete;

  /// Batches go to the partitions in turn, from as many threads as there are clients.
  tally run(std::span<const digest> keys, bool adds) {
    const std::uint32_t partitions = filter->get_spec().partitions;
    std::array<tally, clients> sums;
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < clients; ++t)
        threads.emplace_back([&, t] {
          std::vector<verdict> out(batch_keys);
          for (std::size_t from = t * batch_keys; from < keys.size(); from += clients * batch_keys) {
            const auto p = static_cast<std::uint32_t>(from / batch_keys % partitions);
            const partition_batch batch{p, keys.subspan(from, batch_keys), {}, out};
            const auto result =
                adds ? filter->add(std::span(&batch, 1)) : filter->check(std::span(&batch, 1));
            require(result.has_value(), result ? "" : result.error().message);
            sums[t] += *result;
          }
        });
    }
    return std::accumulate(sums.begin(), sums.end(), tally{}, [](tally a, const tally& b) { return a += b; });
  }

  redis::redis_store store;
  std::shared_ptr<stored_filter> filter;
};

enum class what { add_new, add_known, check_new };

void packed(benchmark::State& state, bool unix_socket, layout_kind layout, what asked) {
  const auto mib = static_cast<std::size_t>(state.range(0));
  const auto partitions = static_cast<std::uint32_t>(state.range(1));
  const std::size_t count = 4'000'000;
  const auto digests = random_digests(count, 11);
  const auto others = random_digests(count, 12);
  double cpu = 0, wall = 0;
  unsigned probes = 0;
  for (auto _ : state) {
    judged_filter f(unix_socket ? server().unix_url() : server().url(), mib, partitions, layout);
    probes = f.filter->get_spec().probes;
    if (asked != what::add_new) (void)f.run(digests, true);
    require(f.filter->path().text == "redis, module", "not judged by the module");
    tally got;
    double took = 0;
    cpu += server_ns(count, [&] {
      took = seconds(
          [&] { got = f.run(asked == what::check_new ? others : digests, asked != what::check_new); });
    });
    const std::uint64_t wrong = asked == what::add_known ? got.fresh : got.seen;
    require(static_cast<double>(wrong) <= (asked == what::add_known ? 0 : 0.006 * count), "verdicts");
    wall += took;
    state.SetIterationTime(took);
  }
  const double ns = cpu / static_cast<double>(state.iterations());
  state.counters["keys/s"] = static_cast<double>(count * state.iterations()) / wall;
  state.counters["server_ns/key"] = ns;
  state.counters["vs_setbit"] = setbit_ns(probes) / ns;
}

void shapes(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond)->ArgNames({"MiB", "partitions"});
}
constexpr auto one_line = layout_kind::line_8x64;
constexpr auto two_lines = layout_kind::two_line_8x64;
BENCHMARK_CAPTURE(packed, unix_add_new, true, one_line, what::add_new)
    ->Apply(shapes)
    ->Args({16, 1})
    ->Args({32, 16})
    ->Args({32, 40});
BENCHMARK_CAPTURE(packed, unix_add_known, true, one_line, what::add_known)->Apply(shapes)->Args({16, 1});
BENCHMARK_CAPTURE(packed, unix_check_new, true, one_line, what::check_new)
    ->Apply(shapes)
    ->Args({16, 1})
    ->Args({32, 16})
    ->Args({32, 40});
BENCHMARK_CAPTURE(packed, tcp_add_new, false, one_line, what::add_new)
    ->Apply(shapes)
    ->Args({16, 1})
    ->Args({32, 16});
BENCHMARK_CAPTURE(packed, unix_add_new_1e6, true, two_lines, what::add_new)->Apply(shapes)->Args({16, 1});

/// Raw keys, a hundred a command.
void add_keys(benchmark::State& state) {
  constexpr std::size_t keys = 1'000'000, keys_a_command = 100;
  double cpu = 0, wall = 0;
  for (auto _ : state) {
    (void)server().connections().ask({}, {"UNLINK", "items"});
    (void)server().connections().ask({}, {"EVERSEEN.RESERVE", "items", "0.005", "11400000"});
    std::vector<redis::request> requests;
    for (std::size_t from = 0; from < keys;) {
      std::string wire;
      for (int command = 0; command < 100; ++command) {
        std::vector<std::string> words = {"EVERSEEN.ADD", "items", "ITEMS"};
        for (std::size_t i = 0; i < keys_a_command; ++i)
          words.push_back("click-" + std::to_string(100'000'000 + from++));
        wire += redis::encode(std::vector<std::string_view>(words.begin(), words.end()));
      }
      requests.emplace_back(redis::route{"items", 0}, std::move(wire), 100, true);
    }
    cpu += server_ns(keys, [&] {
      wall += seconds([&] {
        std::size_t fresh = 0;
        for (const redis::answer& a : server().connections().exchange(requests))
          for (const redis::reply& r : *a)
            for (std::size_t i = 0; i < r.size(); ++i) fresh += r[i].text() == "fresh";
        require(fresh > keys * 994 / 1000, "verdicts");
      });
    });
    state.SetIterationTime(wall);
  }
  const double ns = cpu / static_cast<double>(state.iterations());
  state.counters["keys/s"] = static_cast<double>(keys * state.iterations()) / wall;
  state.counters["server_ns/key"] = ns;
}
BENCHMARK(add_keys)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench

#endif
