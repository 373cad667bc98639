// Question: how many events a second does a job count, from a file into a Redis server?
//
// A million clicks as JSON, one in twenty delivered twice, counted by ten minutes, site and country, and by
// country: two sets of dimensions, two counters an event. The program runs as a separate process against a
// real server over a Unix socket, judged by clients and by the module; the total of the counts is compared
// with the exact one before anything is printed. `cpu_us` is the program's own CPU time an event, `redis_us`
// that of the server (INFO): on a busy machine they are more meaningful than wall time.
//
// The peer, measured with each row, is the usual hand-written program: for each event one script call that
// sets the bits of a textbook filter of that rate with SETBIT and, if one was 0, raises both counters with
// HINCRBY; 1,000 calls in a pipeline. Its events are already parsed, it cannot resume after a crash, and it
// may count replayed events twice. `vs_peer` is our throughput divided by the peer's.

#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <unordered_set>

#include "everseen/redis/wire/command.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"
#include "bench/timed_command.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t events = 1'000'000;

/// Clicks in a file, and the number of different ones.
class clicks {
 public:
  static const clicks& instance() {
    static const clicks one;
    return one;
  }
  [[nodiscard]] std::string file(const std::string& name = "clicks") const { return folder_.path(name); }
  [[nodiscard]] std::size_t different() const noexcept { return different_; }

 private:
  clicks() {
    run(EVERSEEN_PROGRAM " gen clicks --repeats 5% --disorder 10s --count " + std::to_string(events) + " > " +
        file());
    std::unordered_set<std::string> ids;
    std::ifstream in(file());
    for (std::string line; std::getline(in, line);) ids.insert(line.substr(7, 16));
    different_ = ids.size();
  }

  temporary_folder folder_;
  std::size_t different_ = 0;
};

/// The peer, over the first `count` events.
class by_hand {
 public:
  static constexpr std::size_t count = 200'000;

  /// @param probes  of the textbook filter, whose bits a key follow from its rate
  by_hand(redis_server& server, unsigned probes) : server_(server), probes_(probes) {
    std::ifstream in(clicks::instance().file());
    for (std::string line; lines_.size() < count && std::getline(in, line);) lines_.push_back(line);
    script_ = std::string(server.connections().ask({"b", 0}, {"SCRIPT", "LOAD", text}).text());
  }

  /// @return events a second
  double run() {
    std::vector<redis::request> calls;
    double took = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      calls.push_back(call(lines_[i]));
      if (calls.size() < 1'000 && i + 1 < lines_.size()) continue;
      took += seconds([&] {
        for (const redis::answer& a : server_.connections().exchange(calls))
          require(a && !a->back().is_error(), "the peer was refused");
      });
      calls.clear();
    }
    return static_cast<double>(lines_.size()) / took;
  }

 private:
  static constexpr const char* text =
      "local fresh = false "
      "for i = 3, #ARGV do if redis.call('SETBIT', KEYS[1], ARGV[i], 1) == 0 then fresh = true end end "
      "if fresh then redis.call('HINCRBY', KEYS[2], ARGV[1], 1) redis.call('HINCRBY', KEYS[2], ARGV[2], 1) "
      "end "
      "return fresh";

  [[nodiscard]] redis::request call(const std::string& line) const {
    const auto field = [&](std::string_view name) {
      const std::size_t from = line.find(name) + name.size();
      return line.substr(from, line.find('"', from) - from);
    };
    const std::string country = field("country\":\"");
    std::vector<std::string> words = {"EVALSHA", script_, "2", "by_hand", "by_hand_counts"};
    words.push_back(field("time\":\"").substr(0, 15) + field("site\":\"") + country);
    words.push_back(country);
    std::mt19937_64 position(std::hash<std::string>{}(field("id\":\"")));
    const auto bits = static_cast<std::uint64_t>(2e6 * probes_ / std::numbers::ln2);
    for (unsigned i = 0; i < probes_; ++i) words.push_back(std::to_string(position() % bits));
    return {
        {"by_hand", 0}, redis::encode(std::vector<std::string_view>(words.begin(), words.end())), 1, false};
  }

  redis_server& server_;
  unsigned probes_;
  std::vector<std::string> lines_{};
  std::string script_{};
};

/// The lower bound for a filter of this rate: twice its promised rate of false positives is allowed, for
/// chance.
std::size_t least_count(std::size_t different, double rate) {
  return different - static_cast<std::size_t>(2 * rate * static_cast<double>(different));
}

void count_clicks(benchmark::State& state, redis_server& server) {
  const std::string rate = "1e-" + std::to_string(state.range(0));
  const clicks& in = clicks::instance();
  run_result sum;
  double redis_seconds = 0, wall_seconds = 0;
  server.clear();
  const auto probes = static_cast<unsigned>(std::ceil(-std::log2(std::stod(rate))));
  const double peer = by_hand(server, probes).run();
  for (auto _ : state) {
    server.clear();
    const std::string store = " --store '" + server.unix_url() + "' ";
    const double before = server.cpu_seconds();
    const run_result one = run(EVERSEEN_PROGRAM " stream --from " + in.file() + " --filter clicks" + store +
                               "--error-rate " + rate +
                               " --capacity 2M --key-json /id --time-json /time "
                               "--count 10m:/time,/site,/country --count /country 2> " +
                               in.file("said"));
    state.SetIterationTime(one.seconds);
    wall_seconds += one.seconds;
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
  state.counters["peer/s"] = peer;
  state.counters["vs_peer"] = all / wall_seconds / peer;
}

void BM_stream_file_to_counts_by_clients(benchmark::State& state) {
  static redis_server one;
  count_clicks(state, one);
}
BENCHMARK(BM_stream_file_to_counts_by_clients)
    ->ArgName("rate_1e-")
    ->Arg(2)
    ->Arg(6)
    ->Arg(9)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

#ifdef EVERSEEN_MODULE
void BM_stream_file_to_counts_by_the_module(benchmark::State& state) {
  static redis_server one({"--loadmodule", EVERSEEN_MODULE});
  count_clicks(state, one);
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
