// Questions: what does a key cost from its bytes to its verdict, compared with the sum of hashing it alone
// and judging its digest alone? And does that cost stay flat while a filter grows from 10^5 to 10^8 keys,
// without stalls?

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "everseen/everseen.hpp"
#include "everseen/store/memory/memory_segments.hpp"

#include "bench/support.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t batch = 16'384;

/// Distinct keys of one length in one block of memory.
class key_set {
 public:
  key_set(std::size_t count, std::size_t length, std::uint64_t first = 0)
      : text_(count * length, 'k'), views_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = first + i;
      std::memcpy(text_.data() + i * length, &number, sizeof number);
      views_[i] = {text_.data() + i * length, length};
    }
  }
  [[nodiscard]] std::span<const std::string_view> views() const noexcept { return views_; }

 private:
  std::vector<char> text_;
  std::vector<std::string_view> views_;
};

double hash_ns(const filter& f, std::span<const std::string_view> keys, std::vector<digest>& digests) {
  digests.resize(keys.size());
  const auto pass = [&] {
    for (std::size_t i = 0; i < keys.size(); i += batch) {
      const std::size_t n = std::min(batch, keys.size() - i);
      f.hash()(keys.subspan(i, n), std::span(digests).subspan(i, n));
    }
  };
  pass();
  return std::min({seconds(pass), seconds(pass), seconds(pass)}) / static_cast<double>(keys.size()) * 1e9;
}

/// `over_parts` is the time from keys to verdicts divided by the sum of its parts: 1 means no overhead.
void keys_to_verdicts(benchmark::State& state) {
  const auto length = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t count = std::size_t{1} << 20;
  const key_set keys(count, length);
  filter f = create("mem:", "bench", {.capacity = 2 * count, .error_rate = 1e-3});
  std::vector<verdict> out(count);
  const batch_result first = f.add(keys.views(), out);
  require(first && first->fresh > count - count / 500, "new keys are not fresh");

  std::vector<digest> digests;
  const double hashing = hash_ns(f, keys.views(), digests);
  double judging = 1e9;
  double whole = 1e9;
  for (auto _ : state) {
    judging = std::min(judging, seconds([&] { (void)f.add_digests(digests, out); }));
    const double took = seconds([&] { (void)f.add(keys.views(), out); });
    state.SetIterationTime(took);
    whole = std::min(whole, took);
  }
  require(std::count(out.begin(), out.end(), verdict::seen) == static_cast<std::ptrdiff_t>(count),
          "keys are forgotten");
  state.counters["ns_key"] = whole / count * 1e9;
  state.counters["hash_ns"] = hashing;
  state.counters["over_parts"] = whole / count * 1e9 / (hashing + judging / count * 1e9);
}
BENCHMARK(keys_to_verdicts)
    ->Arg(8)
    ->Arg(16)
    ->Arg(32)
    ->Arg(64)
    ->UseManualTime()
    ->Iterations(8)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("bytes");

/// Time for zeroed memory from the operating system, in ns a byte: the minimal cost of a new segment.
double new_memory_ns_a_byte() {
  static const double known = [] {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    const huge_memory memory(bytes);
    return seconds([&] {
             for (std::size_t at = 0; at < bytes; at += 4096) memory.data()[at] = std::byte{1};
           }) /
           bytes * 1e9;
  }();
  return known;
}

/// Cost of a new key, at several sizes: in a filter created for that many keys, and in one that grew from
/// 10^5. `steady_ns` is the cost of the second half of the keys, when the memory of a sized filter has been
/// touched; `slowest_batch_ms` includes the operating system's zeroing of new memory, and `zeroing_ms` is
/// the cost of zeroing all memory of the filter.
void fill(benchmark::State& state, bool grow) {
  const auto count = static_cast<std::size_t>(state.range(0));
  double whole = 0;
  double second_half = 0;
  double slowest_batch = 0;
  double bytes = 0;
  for (auto _ : state) {
    filter f =
        create("mem:", "bench", {.capacity = grow ? 100'000 : count, .error_rate = 1e-6, .partitions = 16});
    std::vector<verdict> out(batch);
    tally all;
    for (std::size_t from = 0; from < count; from += batch) {
      const std::size_t n = std::min(batch, count - from);
      const key_set keys(n, 16, from);
      const double took = seconds([&] { all += f.add(keys.views(), std::span(out).first(n)).value(); });
      whole += took;
      if (from >= count / 2) second_half += took;
      slowest_batch = std::max(slowest_batch, took);
    }
    require(static_cast<double>(all.seen) < 10 + 2e-6 * static_cast<double>(count),
            "the error rate is broken");
    state.SetIterationTime(whole);
    bytes = static_cast<double>(f.info().bytes);
  }
  state.counters["ns_key"] = whole / static_cast<double>(count) * 1e9;
  state.counters["steady_ns"] = second_half / static_cast<double>(count) * 2e9;
  state.counters["slowest_batch_ms"] = slowest_batch * 1e3;
  state.counters["zeroing_ms"] = new_memory_ns_a_byte() * bytes / 1e6;
}
BENCHMARK_CAPTURE(fill, sized, false)
    ->RangeMultiplier(10)
    ->Range(100'000, 100'000'000)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("keys");
BENCHMARK_CAPTURE(fill, grown, true)
    ->RangeMultiplier(10)
    ->Range(100'000, 100'000'000)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("keys");

/// Two threads that add to one filter, compared with one thread that adds the same number of keys.
void shared_filter(benchmark::State& state) {
  constexpr std::size_t count = std::size_t{1} << 22;
  const key_set keys(count, 16);
  double alone = 1e9;
  double together = 1e9;
  for (auto _ : state) {
    const auto run = [&](unsigned threads) {
      filter f = create("mem:", "bench", {.capacity = count, .error_rate = 1e-6, .partitions = 64});
      std::vector<verdict> out(count);
      (void)f.add(keys.views(), out);  // touches all memory
      const auto part = [&](unsigned t) {
        const std::size_t n = count / threads;
        for (int pass = 0; pass < 3; ++pass)
          (void)f.add(keys.views().subspan(t * n, n), std::span(out).subspan(t * n, n));
      };
      const double took = seconds([&] {
        std::vector<std::jthread> others;
        for (unsigned t = 1; t < threads; ++t) others.emplace_back([&, t] { part(t); });
        part(0);
      });
      require(std::count(out.begin(), out.end(), verdict::seen) == static_cast<std::ptrdiff_t>(count),
              "keys are forgotten");
      return took;
    };
    alone = std::min(alone, run(1));
    const double both = run(2);
    state.SetIterationTime(both);
    together = std::min(together, both);
  }
  state.counters["speed_up"] = alone / together;
}
BENCHMARK(shared_filter)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench
