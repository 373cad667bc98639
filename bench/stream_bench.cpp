// Question: how many events a second does a job count, from a file into a Redis server?
//
// A million clicks as JSON, one in twenty delivered twice, counted by ten minutes, site and country, and by
// country: two sets of dimensions, two counters an event. The program runs as a process of its own against a
// real server over a Unix socket, with scripts and with the module; the total of the counts is compared with
// the exact one before anything is printed. `cpu_us` is the program's own CPU time an event, `redis_us` that
// of the server (INFO), which say more than wall time on a machine that others use, too.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_set>

#include <unistd.h>

#include "bench/redis_server.hpp"
#include "bench/support.hpp"
#include "bench/timed_command.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t events = 1'000'000;

/// Clicks in a file, and how many different ones they are.
class clicks {
 public:
  static const clicks& instance() {
    static const clicks one;
    return one;
  }
  ~clicks() { std::filesystem::remove_all(folder_); }
  clicks(const clicks&) = delete;
  clicks& operator=(const clicks&) = delete;

  [[nodiscard]] std::string file(const std::string& name = "clicks") const { return folder_ + "/" + name; }
  [[nodiscard]] std::size_t different() const noexcept { return different_; }

 private:
  clicks() {
    folder_ = (std::filesystem::temp_directory_path() / "everseen-bench-XXXXXX").string();
    require(mkdtemp(folder_.data()) != nullptr, "no temporary folder");
    run(EVERSEEN_PROGRAM " gen clicks --repeats 5% --disorder 10s --count " + std::to_string(events) + " > " +
        file());
    std::unordered_set<std::string> ids;
    std::ifstream in(file());
    for (std::string line; std::getline(in, line);) ids.insert(line.substr(7, 16));
    different_ = ids.size();
  }

  std::string folder_;
  std::size_t different_ = 0;
};

/// What a filter of this rate may have missed of the different ones: its promise, twice over, for chance.
std::size_t least_count(std::size_t different, double rate) {
  return different - static_cast<std::size_t>(2 * rate * static_cast<double>(different));
}

void count_clicks(benchmark::State& state, redis_server& server, const std::string& gear) {
  const std::string rate = "1e-" + std::to_string(state.range(0));
  const clicks& in = clicks::instance();
  run_result sum;
  double redis_seconds = 0;
  for (auto _ : state) {
    server.clear();
    const std::string store = " --store '" + server.unix_url("?gear=" + gear) + "' ";
    const double before = server.cpu_seconds();
    const run_result one = run(EVERSEEN_PROGRAM " stream --from " + in.file() + " --filter clicks" + store +
                               "--error-rate " + rate +
                               " --capacity 2M --key-json /id --time-json /time "
                               "--count 10m:/time,/site,/country --count /country 2> " +
                               in.file("said"));
    state.SetIterationTime(one.seconds);
    sum.cpu_seconds += one.cpu_seconds;
    redis_seconds += server.cpu_seconds() - before;
    run(EVERSEEN_PROGRAM " counts clicks --by country --format csv" + store + " > " + in.file("counts"));
    std::ifstream counts(in.file("counts"));
    std::size_t total = 0;
    std::string line;
    for (std::getline(counts, line); std::getline(counts, line);)
      total += std::stoull(line.substr(line.rfind(',') + 1));
    require(total <= in.different() && total >= least_count(in.different(), std::stod(rate)),
            "counted " + std::to_string(total) + " of " + std::to_string(in.different()));
  }
  const auto all = static_cast<double>(state.iterations()) * static_cast<double>(events);
  state.counters["events/s"] = benchmark::Counter(all, benchmark::Counter::kIsRate);
  state.counters["cpu_us"] = sum.cpu_seconds / all * 1e6;
  state.counters["redis_us"] = redis_seconds / all * 1e6;
}

void BM_stream_file_to_counts_by_scripts(benchmark::State& state) {
  static redis_server one;
  count_clicks(state, one, "script");
}
BENCHMARK(BM_stream_file_to_counts_by_scripts)
    ->ArgName("rate_1e-")
    ->Arg(2)
    ->Arg(6)
    ->Arg(9)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

#ifdef EVERSEEN_MODULE
void BM_stream_file_to_counts_by_the_module(benchmark::State& state) {
  static redis_server one({"--loadmodule", EVERSEEN_MODULE});
  count_clicks(state, one, "module");
}
BENCHMARK(BM_stream_file_to_counts_by_the_module)
    ->ArgName("rate_1e-")
    ->Arg(2)
    ->Arg(6)
    ->Arg(9)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);
#endif

}  // namespace
}  // namespace everseen::bench
