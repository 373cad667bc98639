// Question: can reading a Guava filter keep up with the disk?
//
// `vs_memcpy` is the time to copy the same number of bytes into fresh memory, divided by ours: 1 is memory
// speed. An import into a store also counts the bits, to estimate the keys.

#include <algorithm>
#include <cstring>

#include "everseen/foreign/foreign_file.hpp"
#include "everseen/foreign/guava/guava.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "bench/support.hpp"

namespace everseen::bench {
namespace {

namespace guava = foreign::guava;

std::vector<std::byte> random_stream(std::uint64_t bytes) {
  const auto header = guava::encode_header({guava::strategy::mitz_64, 5, bytes / 8});
  std::vector<std::byte> stream(header.begin(), header.end());
  for (const digest& each : random_digests(bytes / sizeof(digest), 1)) {
    const auto sixteen = std::as_bytes(std::span(&each, 1));
    stream.insert(stream.end(), sixteen.begin(), sixteen.end());
  }
  return stream;
}

foreign_source source_of(const std::vector<std::byte>& stream) {
  return {[rest = std::span(stream)](std::span<std::byte> into) mutable {
            const std::size_t count = std::min(into.size(), rest.size());
            std::copy_n(rest.begin(), count, into.begin());
            rest = rest.subspan(count);
            return count;
          },
          stream.size()};
}

void import(benchmark::State& state) {
  const std::vector<std::byte> stream = random_stream(static_cast<std::uint64_t>(state.range(0)));
  double ours = 1e9;
  for (auto _ : state) {
    memory_store store;
    ours = std::min(ours, seconds([&] { import_guava(store, "f", source_of(stream), {}); }));
    state.PauseTiming();
    std::vector<std::byte> again;
    export_guava({"f", store.open("f", access::read)}, [&again](std::span<const std::byte> bytes) {
      again.insert(again.end(), bytes.begin(), bytes.end());
    });
    require(again == stream, "an imported stream is not exported as it was");
    state.ResumeTiming();
  }
  double copy = 1e9;
  for (int i = 0; i < 5; ++i)
    copy = std::min(copy, seconds([&] { benchmark::DoNotOptimize(std::vector<std::byte>(stream)); }));
  state.counters["GB_a_second"] = static_cast<double>(stream.size()) / ours / 1e9;
  state.counters["vs_memcpy"] = copy / ours;
}

BENCHMARK(import)->Name("guava_import")->Arg(64 << 20)->Arg(512 << 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench
