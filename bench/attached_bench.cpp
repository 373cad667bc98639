// Question: what throughput does a filter reach that another program keeps, and how much faster is that than
// such programs' own way, one SETBIT (or GETBIT) for each bit in one pipeline a key?
//
// A real server over loopback TCP. `vs_pipeline` is the rate divided by that of the pipeline with the same
// number of probes and bits, measured just before. Before anything is printed, the bits set by the pipeline
// are looked up through the attached filter, and vice versa.

#include <memory>
#include <string>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/foreign/bitmap/family.hpp"
#include "everseen/redis/redis_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

redis_server& server() {
  static redis_server one;
  return one;
}

std::vector<std::string> keys_from(std::size_t first, std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = first; i < first + count; ++i) keys.push_back("user:" + std::to_string(i));
  return keys;
}

/// One pipeline a key.    @return keys a second
double measure_pipeline(const foreign::attachment& a, const std::vector<std::string>& keys, bool add) {
  std::vector<std::uint64_t> positions(a.hashing.probes);
  const double took = seconds([&] {
    for (const std::string& key : keys) {
      foreign::positions(a.hashing, key, positions);
      std::string wire;
      for (const std::uint64_t p : positions)
        wire += add ? redis::encode({"SETBIT", a.key, std::to_string(p), "1"})
                    : redis::encode({"GETBIT", a.key, std::to_string(p)});
      const redis::request r{{a.key, 0}, std::move(wire), positions.size(), true};
      require(server().connections().exchange(std::span(&r, 1)).front().has_value(), "a pipeline");
    }
  });
  return static_cast<double>(keys.size()) / took;
}

tally run(filter& f, const std::vector<std::string>& keys, bool add) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<verdict> out(keys.size());
  const batch_result result = add ? f.add(views, out) : f.may_contain(views, out);
  require(result.has_value(), result ? "" : result.error().message);
  return *result;
}

enum class what { add_new, check_new, check_known };

void attached(benchmark::State& state, foreign::family which, const std::string& commands, what asked) {
  constexpr std::size_t count = 100'000;
  constexpr std::size_t of_pipeline = 10'000;
  foreign::attachment a{{which, std::uint64_t{1} << 25, static_cast<unsigned>(state.range(0))}};
  a.key = "bits";
  const auto keys = keys_from(0, count);
  const auto others = keys_from(count, count);
  const auto by_pipeline = keys_from(2 * count, of_pipeline);
  double wall = 0, cpu = 0, peer = 0;
  for (auto _ : state) {
    redis::redis_store store(redis::parse_redis_url(server().url(commands)), foreign::open_attached);
    foreign::attach(store.servers(), "bench", a, foreign::missing_key::create);
    filter f("bench", store.open("bench", access::write));
    peer = measure_pipeline(a, by_pipeline, true);
    if (asked != what::add_new) peer = measure_pipeline(a, by_pipeline, false);
    require(run(f, by_pipeline, false).seen == of_pipeline, "the pipeline's keys are not seen");
    if (asked != what::add_new) (void)run(f, keys, true);
    const double cpu_before = server().cpu_seconds();
    tally got;
    const double took =
        seconds([&] { got = run(f, asked == what::check_new ? others : keys, asked == what::add_new); });
    cpu += server().cpu_seconds() - cpu_before;
    wall += took;
    const std::uint64_t wrong = asked == what::check_known ? got.fresh : got.seen;
    require(wrong <= (asked == what::check_known ? 0 : count / 1000), "verdicts");
    state.SetIterationTime(took);
    server().clear();
  }
  const double all = static_cast<double>(count) * static_cast<double>(state.iterations());
  state.counters["keys/s"] = all / wall;
  state.counters["redis_us/key"] = 1e6 * cpu / all;
  state.counters["vs_pipeline"] = all / wall / peer;
}

void probes(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond)->ArgName("probes");
}

using foreign::family;
BENCHMARK_CAPTURE(attached, gozero_script_add, family::gozero, "?commands=script", what::add_new)
    ->Apply(probes)
    ->Arg(14);
BENCHMARK_CAPTURE(attached, gozero_script_check_new, family::gozero, "?commands=script", what::check_new)
    ->Apply(probes)
    ->Arg(14);
BENCHMARK_CAPTURE(attached, gozero_script_check_known, family::gozero, "?commands=script", what::check_known)
    ->Apply(probes)
    ->Arg(14);
BENCHMARK_CAPTURE(attached, gozero_bitfield_add, family::gozero, "?commands=bitfield", what::add_new)
    ->Apply(probes)
    ->Arg(14);
BENCHMARK_CAPTURE(attached, gozero_bitfield_check_known, family::gozero, "?commands=bitfield",
                  what::check_known)
    ->Apply(probes)
    ->Arg(14);
BENCHMARK_CAPTURE(attached, bkdr_php_script_add, family::bkdr_php, "?commands=script", what::add_new)
    ->Apply(probes)
    ->Arg(8)
    ->Arg(16);
BENCHMARK_CAPTURE(attached, guava_script_add, family::guava64, "?commands=script", what::add_new)
    ->Apply(probes)
    ->Arg(5);

}  // namespace
}  // namespace everseen::bench
