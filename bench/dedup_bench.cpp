// Question: how long does `everseen dedup` take from start to exit, compared with the usual tools?
//
// Ten million random words, 90 MB, in the page cache. Every program runs as a separate process; the answers
// are compared before anything is timed. `vs_everseen` is a peer's time divided by everseen's in the same
// run.
//
// Second question: what does a window cost? Two million clicks over half an hour, keyed by a field, with a
// window of ten minutes; times in order, and out of order by up to five minutes. `vs_no_window` is the time
// divided by that of the same lines without a window.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/support.hpp"
#include "bench/timed_command.hpp"

namespace everseen::bench {
namespace {

/// The sample and the answers, created once a run of the benchmarks.
class sample {
 public:
  static const sample& instance() {
    static const sample one;
    return one;
  }
  [[nodiscard]] std::string words() const { return folder_.path("words"); }
  [[nodiscard]] std::string scratch() const { return folder_.path("out"); }
  [[nodiscard]] static std::string dedup() { return EVERSEEN_PROGRAM " dedup --error-rate 1e-9 "; }

 private:
  sample() {
    run(EVERSEEN_PROGRAM " gen words --count 10000000 > " + words());
    run(dedup() + words() + " > " + scratch());
    run("mawk '!s[$0]++' " + words() + " > " + folder_.path("exact"));
    require(std::system(("cmp -s " + scratch() + " " + folder_.path("exact")).c_str()) == 0,
            "dedup and mawk print different lines");
    std::filesystem::remove(folder_.path("exact"));
  }
  temporary_folder folder_;
};

/// Clicks and the answers, created once a run of the benchmarks.
class clicks {
 public:
  static const clicks& instance() {
    static const clicks one;
    return one;
  }
  [[nodiscard]] std::string in_order() const { return folder_.path("in-order"); }
  [[nodiscard]] std::string out_of_order() const { return folder_.path("out-of-order"); }
  [[nodiscard]] static std::string dedup(const std::string& window) {
    const std::string timed = window.empty() ? "" : "--time-field 2 --window " + window + " ";
    return sample::dedup() + "--key-field 1 --delimiter , " + timed;
  }

 private:
  clicks() {
    const std::string gen =
        EVERSEEN_PROGRAM " gen clicks --count 2M --repeats 5% --format csv --time-format ms ";
    run(gen + "| sed 1d > " + in_order());
    run(gen + "--disorder 5m | sed 1d > " + out_of_order());
    for (const std::string& lines : {in_order(), out_of_order()}) {  // a day forgets nothing of half an hour
      run(dedup("1d") + lines + " > " + folder_.path("window"));
      run(dedup("") + lines + " > " + folder_.path("no-window"));
      require(
          std::system(("cmp -s " + folder_.path("window") + " " + folder_.path("no-window")).c_str()) == 0,
          "a window that forgets nothing prints other lines than none");
    }
  }
  temporary_folder folder_;
};

/// The best of three runs of everseen to /dev/null, to compare peers with.
double everseen_seconds() {
  static const double best = [] {
    double least = 1e9;
    for (int i = 0; i < 3; ++i)
      least = std::min(least, run(sample::dedup() + sample::instance().words() + " > /dev/null").seconds);
    return least;
  }();
  return best;
}

void measure(benchmark::State& state, const std::string& command) {
  const double ours = everseen_seconds();
  run_result last;
  double least = 1e9;
  for (auto _ : state) {
    last = run(command);
    state.SetIterationTime(last.seconds);
    least = std::min(least, last.seconds);
  }
  state.counters["cpu_s"] = last.cpu_seconds;
  state.counters["peak_MB"] = last.peak_megabytes;
  state.counters["vs_everseen"] = least / ours;
}

void dedup_to_null(benchmark::State& state) {
  measure(state, sample::dedup() + sample::instance().words() + " > /dev/null");
}
void dedup_one_thread(benchmark::State& state) {
  measure(state, sample::dedup() + "--threads 1 " + sample::instance().words() + " > /dev/null");
}
void dedup_to_file(benchmark::State& state) {
  measure(state, sample::dedup() + sample::instance().words() + " > " + sample::instance().scratch());
}
void dedup_from_pipe(benchmark::State& state) {
  measure(state, "cat " + sample::instance().words() + " | " + sample::dedup() + " > /dev/null");
}
void peer_sort_u(benchmark::State& state) {
  setenv("LC_ALL", "C", 1);
  measure(state, "sort -u " + sample::instance().words() + " > /dev/null");
}
void peer_mawk(benchmark::State& state) {
  measure(state, "mawk '!s[$0]++' " + sample::instance().words() + " > /dev/null");
}

void measure_window(benchmark::State& state, const std::string& lines) {
  double without = 1e9;
  for (int i = 0; i < 3; ++i)
    without = std::min(without, run(clicks::dedup("") + lines + " > /dev/null").seconds);
  double least = 1e9;
  run_result last;
  for (auto _ : state) {
    last = run(clicks::dedup("10m") + lines + " > /dev/null");
    state.SetIterationTime(last.seconds);
    least = std::min(least, last.seconds);
  }
  state.counters["cpu_s"] = last.cpu_seconds;
  state.counters["peak_MB"] = last.peak_megabytes;
  state.counters["vs_no_window"] = least / without;
}
void window_in_order(benchmark::State& state) {
  measure_window(state, clicks::instance().in_order());
}
void window_out_of_order(benchmark::State& state) {
  measure_window(state, clicks::instance().out_of_order());
}

BENCHMARK(dedup_to_null)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(dedup_one_thread)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(dedup_to_file)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(dedup_from_pipe)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(peer_sort_u)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);
BENCHMARK(peer_mawk)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(window_in_order)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(window_out_of_order)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench
