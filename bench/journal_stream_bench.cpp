// Question: what load does a counting job put on a Redis if its clients judge and every write is on disk
// before it is acknowledged? And what does a window add?
//
// Clicks as JSON, one in twenty delivered twice, their times out of order by up to five minutes; error rate
// 1e-9. The program runs as a separate process beside a real server with `appendfsync always`, over a Unix
// socket. A job raises three counters an event: of its ten minutes, its site and its country. Each of them is
// compared with the exact count before anything is printed; lines of `dedup` are compared with those of a run
// in memory.
//
// `redis_share` is the server's CPU time (INFO) divided by wall time: how much of its one core is in use.
// `redis_us` and `client_us` are CPU time an event, which is more meaningful than wall time on a busy
// machine.
//
// `vs_no_window` and `cpu_vs_no_window` are the time, and the CPU time
// of client and server, divided by those of the same lines without a window, alternating with it.

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <unordered_set>

#include "bench/redis_server.hpp"
#include "bench/support.hpp"
#include "bench/timed_command.hpp"

namespace everseen::bench {
namespace {

constexpr std::uint64_t events = 1'000'000;
/// For a server that judges, an event takes 30 times as long.
constexpr const char* in_window = "--judge client --window 10m --time-json /time";

/// Rewriting the AOF would affect one run and not another.
redis_server& server() {
  static redis_server one({"--appendonly", "yes", "--appendfsync", "always", "--aof-load-truncated", "no",
                           "--auto-aof-rewrite-percentage", "0"});
  return one;
}

/// By the value of a dimension: no two dimensions share a value.
using counters = std::map<std::string, std::int64_t>;

/// Clicks in a file, and their exact counts.
class clicks {
 public:
  explicit clicks(std::uint64_t count) : count_(count) {
    run(EVERSEEN_PROGRAM " gen clicks --repeats 5% --disorder 5m --count " + std::to_string(count) + " > " +
        path());
    run(EVERSEEN_PROGRAM " dedup --key-json /id --error-rate 1e-9 " + path() + " > " + path("once"));
    std::unordered_set<std::string> ids;
    std::ifstream in(path());
    for (std::string line; std::getline(in, line);) {
      const auto field = [&](std::string_view name) {
        const std::size_t from = line.find(name) + name.size();
        return line.substr(from, line.find('"', from) - from);
      };
      if (!ids.insert(field("\"id\":\"")).second) continue;
      ++exact_[field("\"time\":\"").substr(0, 15) + "0:00Z"];
      ++exact_[field("\"site\":\"")];
      ++exact_[field("\"country\":\"")];
    }
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::string path(const std::string& name = "clicks") const { return folder_.path(name); }

  /// One event may have been a false positive: one run in a thousand has one at this rate.
  void require_counted(const counters& got) const {
    std::int64_t missing = 0;
    for (const auto& [value, count] : exact_) {
      const auto found = got.find(value);
      const std::int64_t lack = count - (found == got.end() ? 0 : found->second);
      require(lack >= 0, "too many of " + value);
      missing += lack;
    }
    require(missing <= 3 && got.size() <= exact_.size(), std::to_string(missing) + " too few");
  }

 private:
  temporary_folder folder_;
  std::uint64_t count_;
  counters exact_{};
};

const clicks& all_clicks() {
  static const clicks all(events);
  return all;
}

/// The cost of runs to the client and to the server.
struct cost {
  double seconds = 0, client_cpu = 0, redis_cpu = 0;

  cost& operator+=(const cost& o) {
    seconds += o.seconds;
    client_cpu += o.client_cpu;
    redis_cpu += o.redis_cpu;
    return *this;
  }
};

/// @param verb  of the program, with its input and output
cost timed(const std::string& verb, const std::string& options) {
  server().clear();
  const double before = server().cpu_seconds();
  const run_result one = run(EVERSEEN_PROGRAM " " + verb + " --filter clicks --store " + server().unix_url() +
                             " --error-rate 1e-9 --capacity 1M --key-json /id " + options);
  return {one.seconds, one.cpu_seconds, server().cpu_seconds() - before};
}

counters counted(const clicks& of) {
  counters all;
  for (const std::string by : {"time", "site", "country"}) {
    run(EVERSEEN_PROGRAM " counts clicks --format csv --by " + by + " --store " + server().unix_url() +
        " > " + of.path("counts"));
    std::ifstream in(of.path("counts"));
    std::string line;
    for (std::getline(in, line); std::getline(in, line);) {
      const std::size_t comma = line.rfind(',');
      all[line.substr(0, comma)] = std::stoll(line.substr(comma + 1));
    }
  }
  return all;
}

cost count(const clicks& in, const std::string& options) {
  const cost took = timed("stream --from " + in.path() + " 2> " + in.path("said"),
                          options + " --count 10m:/time --count /site --count /country");
  in.require_counted(counted(in));
  return took;
}

cost dedup(const clicks& in, const std::string& options) {
  const cost took = timed("dedup " + in.path() + " > " + in.path("out") + " 2> " + in.path("said"), options);
  run("cmp " + in.path("out") + " " + in.path("once"));
  return took;
}

void report(benchmark::State& state, const cost& sum) {
  const double all = static_cast<double>(events) * static_cast<double>(state.iterations());
  state.counters["events/s"] = all / sum.seconds;
  state.counters["redis_share"] = sum.redis_cpu / sum.seconds;
  state.counters["redis_us"] = 1e6 * sum.redis_cpu / all;
  state.counters["client_us"] = 1e6 * sum.client_cpu / all;
}

void count_with_every_write_on_disk(benchmark::State& state) {
  cost sum;
  for (auto _ : state) {
    const cost one = count(all_clicks(), "--judge client");
    state.SetIterationTime(one.seconds);
    sum += one;
  }
  report(state, sum);
}

/// @param work  count or dedup
/// @param timed_without  what the run without a window needs to read the times, too
template <typename Work>
void in_a_window(benchmark::State& state, Work work, const std::string& timed_without) {
  cost sum, without;
  for (auto _ : state) {
    without += work(all_clicks(), "--judge client " + timed_without);
    const cost one = work(all_clicks(), in_window);
    state.SetIterationTime(one.seconds);
    sum += one;
  }
  report(state, sum);
  state.counters["vs_no_window"] = sum.seconds / without.seconds;
  state.counters["cpu_vs_no_window"] =
      (sum.client_cpu + sum.redis_cpu) / (without.client_cpu + without.redis_cpu);
}
void count_in_a_window(benchmark::State& state) {
  in_a_window(state, count, "--time-json /time");
}
/// Without a window `dedup` reads no times, so the cost of that is part of the ratio.
void dedup_in_a_window(benchmark::State& state) {
  in_a_window(state, dedup, "");
}

BENCHMARK(count_with_every_write_on_disk)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(count_in_a_window)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(dedup_in_a_window)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench
