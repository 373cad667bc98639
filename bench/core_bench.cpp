// Question: what does a key cost if its digest is known, and how many cache lines are in flight at the same
// time?
//
// `in_flight` is the time of a dependent load (one line at a time, measured in the same run over the same
// amount of memory) divided by the time a key: the number of loads that overlap. `vs_textbook` is the peer's
// time divided by ours. The peer is the loop of most libraries: k double-hashed bits a key, one key at a
// time, with the same bits a key.

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "everseen/core/kernel/kernels.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/store/memory/memory_segments.hpp"

#include "bench/support.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t batch = 4096;

/// Enough keys to touch every line of the segment. With fewer, only a part of a half-gigabyte segment would
/// be used, which fits into the last-level cache.
std::size_t keys_for(std::uint64_t bytes) {
  return std::max<std::size_t>(std::size_t{1} << 20, bytes / line_bytes);
}

geometry shape_of(layout_kind layout, std::uint64_t bytes) {
  return {layout, static_cast<std::uint8_t>(probes_of(layout, 8)), bytes};
}

/// The peer: a careful implementation that ignores caches.
class textbook_filter {
 public:
  explicit textbook_filter(std::uint64_t bytes) : memory_(bytes), bits_(8 * bytes) {}
  bool add(const digest& d) noexcept {
    bool seen = true;
    for (unsigned i = 0; i < probes; ++i) {
      const std::uint64_t p = (d.low + i * d.high) % bits_;
      std::byte& byte = memory_.data()[p / 8];
      const auto mask = static_cast<std::byte>(1U << (p % 8));
      seen &= (byte & mask) != std::byte{0};
      byte |= mask;
    }
    return seen;
  }

 private:
  static constexpr unsigned probes = 8;
  huge_memory memory_;
  std::uint64_t bits_;
};

double textbook_ns(std::uint64_t bytes) {
  static std::map<std::uint64_t, double> known;
  if (const auto found = known.find(bytes); found != known.end()) return found->second;
  textbook_filter peer(bytes);
  const std::size_t keys = keys_for(bytes);
  const std::vector<digest> digests = random_digests(keys, 3);
  std::uint64_t seen = 0;
  const auto pass = [&] {
    for (const digest& d : digests) seen += peer.add(d);
  };
  pass();
  pass();
  require(seen >= keys, "the peer forgets");
  const double best = std::min(seconds(pass), seconds(pass));
  return known[bytes] = best / static_cast<double>(keys) * 1e9;
}

/// A filter of this shape that holds half of the digests, with verified answers.
huge_memory half_full(const geometry& shape, std::span<const digest> digests) {
  huge_memory bits(shape.bytes);
  std::vector<verdict> out(digests.size());
  const std::size_t half = digests.size() / 2;
  best_kernel().add(bits.data(), shape, digests.first(half), out.data());
  best_kernel().check(bits.data(), shape, digests, out.data());
  const auto wrong = std::count(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(half), verdict::fresh);
  require(wrong == 0, "a key that was added is not seen");
  return bits;
}

template <typename Visit>
void over_batches(std::span<const digest> digests, verdict* out, Visit visit) {
  for (std::size_t i = 0; i < digests.size(); i += batch) visit(digests.subspan(i, batch), out + i);
}

void report(benchmark::State& state, std::uint64_t bytes, double nanoseconds) {
  state.counters["ns_key"] = nanoseconds;
  state.counters["in_flight"] = dependent_load_ns(bytes) / nanoseconds;
  state.counters["vs_textbook"] = textbook_ns(bytes) / nanoseconds;
}

enum class operation { look_up, add };

void one_thread(benchmark::State& state, layout_kind layout, operation what) {
  const auto bytes = static_cast<std::uint64_t>(state.range(0)) << 20;
  const geometry shape = shape_of(layout, bytes);
  const std::size_t keys = keys_for(bytes);
  const std::vector<digest> digests = random_digests(keys, 2);
  const huge_memory bits = half_full(shape, digests);
  std::vector<verdict> out(keys);
  double best = 1e9;
  for (auto _ : state) {
    const double took = seconds([&] {
      over_batches(digests, out.data(), [&](std::span<const digest> some, verdict* to) {
        if (what == operation::look_up)
          best_kernel().check(bits.data(), shape, some, to);
        else
          best_kernel().add(bits.data(), shape, some, to);
      });
    });
    state.SetIterationTime(took);
    best = std::min(best, took);
  }
  report(state, bytes, best / static_cast<double>(keys) * 1e9);
  state.SetLabel(std::string(best_kernel().name));
}

/// Each thread owns a filter: the throughput of two cores that share only the memory bus.
void two_threads(benchmark::State& state) {
  const auto bytes = static_cast<std::uint64_t>(state.range(0)) << 20;
  const geometry shape = shape_of(layout_kind::line_8x64, bytes);
  const std::size_t keys = keys_for(bytes);
  const std::vector<digest> digests = random_digests(keys, 2);
  const huge_memory mine = half_full(shape, digests);
  const huge_memory theirs = half_full(shape, digests);
  const int passes = bytes > (std::uint64_t{64} << 20) ? 1 : 8;
  const auto work = [&](const huge_memory& bits) {
    std::vector<verdict> out(keys);
    for (int pass = 0; pass < passes; ++pass)
      over_batches(digests, out.data(), [&](std::span<const digest> some, verdict* to) {
        best_kernel().add(bits.data(), shape, some, to);
      });
  };
  double alone = 1e9;
  double together = 1e9;
  for (auto _ : state) {
    alone = std::min(alone, seconds([&] { work(mine); }));
    const double both = seconds([&] {
      std::jthread other([&] { work(theirs); });
      work(mine);
    });
    state.SetIterationTime(both);
    together = std::min(together, both);
  }
  state.counters["speed_up"] = 2 * alone / together;
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int megabytes : {1, 16, 512}) b->Arg(megabytes);
  b->UseManualTime()->Iterations(8)->Unit(benchmark::kMillisecond)->ArgName("MB");
}

BENCHMARK_CAPTURE(one_thread, look_up_line_8x64, layout_kind::line_8x64, operation::look_up)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, add_line_8x64, layout_kind::line_8x64, operation::add)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, look_up_line_16x32, layout_kind::line_16x32, operation::look_up)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, add_line_16x32, layout_kind::line_16x32, operation::add)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, look_up_two_line_8x64, layout_kind::two_line_8x64, operation::look_up)
    ->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, add_two_line_8x64, layout_kind::two_line_8x64, operation::add)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, look_up_two_line_16x32, layout_kind::two_line_16x32, operation::look_up)
    ->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, add_two_line_16x32, layout_kind::two_line_16x32, operation::add)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, look_up_classic, layout_kind::classic, operation::look_up)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, add_classic, layout_kind::classic, operation::add)->Apply(sizes);
// The cost of division.
BENCHMARK_CAPTURE(one_thread, look_up_guava64, layout_kind::guava64, operation::look_up)->Apply(sizes);
BENCHMARK_CAPTURE(one_thread, look_up_redisbloom, layout_kind::redisbloom, operation::look_up)->Apply(sizes);
BENCHMARK(two_threads)
    ->Arg(1)
    ->Arg(512)
    ->UseManualTime()
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("MB");

}  // namespace
}  // namespace everseen::bench
