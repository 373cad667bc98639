// Question: how does the cost of a key rise from 10^6 to 10^9 keys, wherever the bits are, compared with an
// exact set of hashes and with the fastest published filter of one cache line or less per key?
//
// Sizes for which this machine has not enough memory or disk are left out, by name. `add_ns` and `look_up_ns`
// are wall time per key on one thread, `add_cpu_ns` is the processor time of this process, `server_cpu_ns`
// that of a server. `vs_block` is the cost of an add beside the split-block filter of as many bytes in the
// same run.

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/everseen.hpp"
#include "everseen/store/memory/memory_segments.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t batch = std::size_t{1} << 17;
constexpr double error_rate = 1e-6;
constexpr std::uint64_t absent_seed = 1U << 20;

/// Distinct keys: those of a seed and a batch number are always the same.
void fill(std::vector<digest>& digests, std::uint64_t seed) {
  std::uint64_t state = seed << 40;
  const auto next = [&state] {  // splitmix64
    std::uint64_t x = (state += 0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  for (digest& d : digests) d = {next(), next()};
}

std::uint64_t available_bytes() {
  std::ifstream facts("/proc/meminfo");
  std::string word;
  std::uint64_t kib = 0;
  while (facts >> word)
    if (word == "MemAvailable:" && facts >> kib) return kib << 10;
  return 0;
}

/// Something that is asked about batches of keys.
struct subject {
  /// How many were not there, and are now.
  std::function<std::uint64_t(std::span<const digest>)> add;
  /// How many are there.
  std::function<std::uint64_t(std::span<const digest>)> count_present;
};

subject subject_of(const std::shared_ptr<filter>& f) {
  const auto out = std::make_shared<std::vector<verdict>>(batch);
  return {[=](std::span<const digest> keys) {
            return f->add_digests(keys, std::span(*out).first(keys.size())).value().fresh;
          },
          [=](std::span<const digest> keys) {
            return f->may_contain_digests(keys, std::span(*out).first(keys.size())).value().seen;
          }};
}

/// The filter of 256-bit blocks of Apache Parquet and Impala: eight bits per key, one in each word of a
/// block. Prefetched like ours where it exceeds the caches.
class split_block_filter {
 public:
  explicit split_block_filter(std::size_t bytes) : memory_(bytes / sizeof(block) * sizeof(block)) {}

  std::uint64_t add(std::span<const digest> keys) {
    return for_each(keys, [](block& one, const block& bits) {
      std::uint32_t missing = 0;
      for (std::size_t i = 0; i < one.size(); ++i) {
        missing |= bits[i] & ~one[i];
        one[i] |= bits[i];
      }
      return missing != 0;
    });
  }
  std::uint64_t count_present(std::span<const digest> keys) {
    return for_each(keys, [](const block& one, const block& bits) {
      std::uint32_t missing = 0;
      for (std::size_t i = 0; i < one.size(); ++i) missing |= bits[i] & ~one[i];
      return missing == 0;
    });
  }

 private:
  using block = std::array<std::uint32_t, 8>;

  [[nodiscard]] block& block_of(const digest& d) const noexcept {
    const std::uint64_t index = draw::reduce(d.low, memory_.size() / sizeof(block));
    return reinterpret_cast<block*>(memory_.data())[index];
  }
  static block bits_of(const digest& d) noexcept {
    constexpr block salts = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                             0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    block bits;
    for (std::size_t i = 0; i < bits.size(); ++i)
      bits[i] = 1U << (static_cast<std::uint32_t>(d.high) * salts[i] >> 27);
    return bits;
  }
  template <typename Visit>
  [[gnu::target("avx2")]] std::uint64_t for_each(std::span<const digest> keys, Visit visit) const {
    constexpr std::size_t ahead = 32;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + ahead < keys.size()) __builtin_prefetch(&block_of(keys[i + ahead]));
      count += visit(block_of(keys[i]), bits_of(keys[i]));
    }
    return count;
  }

  huge_memory memory_;
};

struct figures {
  double add_ns = 0;
  double look_up_ns = 0;
  double add_cpu_ns = 0;
};

/// @param false_rate  at which keys may be called seen by mistake
figures measure(const subject& of, std::uint64_t keys, double false_rate) {
  figures f;
  std::vector<digest> some(batch);
  std::uint64_t fresh = 0;
  for (std::uint64_t from = 0, number = 0; from < keys; from += batch, ++number) {
    fill(some, number);
    const auto part = std::span<const digest>(some).first(std::min<std::uint64_t>(batch, keys - from));
    const double cpu = own_cpu_seconds();
    f.add_ns += seconds([&] { fresh += of.add(part); });
    f.add_cpu_ns += own_cpu_seconds() - cpu;
  }
  const auto most = static_cast<double>(keys) * false_rate * 1.1 + 30;
  require(static_cast<double>(keys - fresh) <= most, "too many new keys were called seen");
  const std::uint64_t rounds = std::clamp<std::uint64_t>(keys / batch, 1, 32);
  std::uint64_t present = 0, false_seen = 0, looked_up = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {  // each of keys that were added, and of others
    fill(some, round * (keys / batch) / rounds);
    f.look_up_ns += seconds([&] { present += of.count_present(some); });
    fill(some, absent_seed + round);
    f.look_up_ns += seconds([&] { false_seen += of.count_present(some); });
    looked_up += 2 * batch;
  }
  if (keys >= batch) require(present == rounds * batch, "keys are forgotten");
  require(static_cast<double>(false_seen) <= static_cast<double>(looked_up) * false_rate * 1.1 + 30,
          "too many absent keys were called seen");
  f.add_ns *= 1e9 / static_cast<double>(keys);
  f.add_cpu_ns *= 1e9 / static_cast<double>(keys);
  f.look_up_ns *= 1e9 / static_cast<double>(looked_up);
  return f;
}

std::uint64_t filter_bytes(std::uint64_t keys) {
  const spec s = make_spec({.capacity = keys, .error_rate = error_rate});
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

/// That of the split-block filter with this many keys, which is measured once.
const figures& block_figures(std::uint64_t keys) {
  static std::map<std::uint64_t, figures> known;
  if (const auto found = known.find(keys); found != known.end()) return found->second;
  const auto filter = std::make_shared<split_block_filter>(filter_bytes(keys));
  const subject of = {[=](std::span<const digest> some) { return filter->add(some); },
                      [=](std::span<const digest> some) { return filter->count_present(some); }};
  constexpr double its_rate = 2e-4;  // at 34 bits per key
  return known[keys] = measure(of, keys, its_rate);
}

void show(benchmark::State& state, std::uint64_t keys, const figures& f, std::uint64_t bytes) {
  state.SetIterationTime(f.add_ns * static_cast<double>(keys) / 1e9);
  state.counters["add_ns"] = f.add_ns;
  state.counters["look_up_ns"] = f.look_up_ns;
  state.counters["add_cpu_ns"] = f.add_cpu_ns;
  state.counters["bits_key"] = 8 * static_cast<double>(bytes) / static_cast<double>(keys);
}

bool has_memory(benchmark::State& state, std::uint64_t bytes) {
  if (available_bytes() > bytes + bytes / 4 + (std::uint64_t{1} << 30)) return true;
  state.SkipWithError("this machine has not enough memory left");
  return false;
}

void curve(benchmark::State& state, const std::function<filter(const spec_request&)>& make) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  if (!has_memory(state, filter_bytes(keys))) return;
  for (auto _ : state) {
    const figures& peer = block_figures(keys);
    const auto f = std::make_shared<filter>(make({.capacity = keys, .error_rate = error_rate}));
    const figures mine = measure(subject_of(f), keys, error_rate);
    show(state, keys, mine, f->info().bytes);
    state.counters["add_vs_block"] = mine.add_ns / peer.add_ns;
    state.counters["look_up_vs_block"] = mine.look_up_ns / peer.look_up_ns;
  }
}

void curve_in_memory(benchmark::State& state) {
  curve(state, [](const spec_request& asked) { return create("mem:", "curve", asked); });
}

void curve_in_files(benchmark::State& state) {
  const temporary_folder folder;
  curve(state, [&](const spec_request& asked) { return create("file:" + folder.path("f"), "curve", asked); });
}

void curve_on_redis(benchmark::State& state, const std::vector<std::string>& more, judge_kind judge) {
  redis_server server(more);
  const double before = server.cpu_seconds();
  curve(state, [&](spec_request asked) {
    asked.judge = judge;
    return create(server.unix_url(), "curve", asked);
  });
  state.counters["server_cpu_ns"] =
      (server.cpu_seconds() - before) * 1e9 / static_cast<double>(state.range(0));
}
void curve_judged_by_clients(benchmark::State& state) {
  curve_on_redis(state, {}, judge_kind::client);
}
#ifdef EVERSEEN_MODULE
void curve_judged_by_the_module(benchmark::State& state) {
  curve_on_redis(state, {"--loadmodule", EVERSEEN_MODULE}, judge_kind::server);
}
#endif

/// The exact answer: 64-bit hashes in the standard library's set.
void curve_of_a_set(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  constexpr std::uint64_t bytes_per_key = 40;  // node, its allocation, and bucket
  if (!has_memory(state, keys * bytes_per_key)) return;
  for (auto _ : state) {
    std::unordered_set<std::uint64_t> set;
    set.reserve(keys);
    const subject of = {[&](std::span<const digest> some) {
                          std::uint64_t fresh = 0;
                          for (const digest& d : some) fresh += set.insert(d.low).second;
                          return fresh;
                        },
                        [&](std::span<const digest> some) {
                          std::uint64_t present = 0;
                          for (const digest& d : some) present += set.contains(d.low);
                          return present;
                        }};
    show(state, keys, measure(of, keys, 0), keys * bytes_per_key);
  }
}

void curve_of_split_blocks(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  if (!has_memory(state, filter_bytes(keys))) return;
  for (auto _ : state) show(state, keys, block_figures(keys), filter_bytes(keys));
}

void sizes(benchmark::internal::Benchmark* b, std::int64_t most) {
  b->RangeMultiplier(10)
      ->Range(1'000'000, most)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
  b->ArgName("keys");
}
void up_to_10_million(benchmark::internal::Benchmark* b) {
  sizes(b, 10'000'000);
}
void up_to_100_million(benchmark::internal::Benchmark* b) {
  sizes(b, 100'000'000);
}
void up_to_a_billion(benchmark::internal::Benchmark* b) {
  sizes(b, 1'000'000'000);
}

BENCHMARK(curve_in_memory)->Apply(up_to_a_billion);
BENCHMARK(curve_of_split_blocks)->Apply(up_to_a_billion);
BENCHMARK(curve_in_files)->Apply(up_to_a_billion);
BENCHMARK(curve_judged_by_clients)->Apply(up_to_10_million);
#ifdef EVERSEEN_MODULE
BENCHMARK(curve_judged_by_the_module)->Apply(up_to_100_million);
#endif
BENCHMARK(curve_of_a_set)->Apply(up_to_100_million);

}  // namespace
}  // namespace everseen::bench
