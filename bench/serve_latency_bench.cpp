// Question: how long does one request of a thousand clients wait at half of the server's maximum rate?
//
// The server has one thread on one processor, and the clients another, so that neither waits for the other's
// processor. Requests arrive at random moments that do not depend on the answers (an open loop), and a
// request's time counts from the moment at which it was due. So delays of clients and server are included.
// `client_late_p99_ms` is the part caused by the clients themselves. The maximum rate is that of a thousand
// clients that send their next request immediately; `server_busy` shows whether the server was the
// bottleneck.

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

#include "bench/served.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t clients = 1000;
/// Rounds with pauses in between: under real-time scheduling (chrt -f 1) the system throttles a process that
/// never pauses.
constexpr std::size_t rounds = 5;
constexpr std::chrono::milliseconds round_lasts{800}, pause_lasts{300};

/// When requests are due: with a rate, at random moments; without, immediately.
class arrivals {
 public:
  arrivals(double rate, unsigned seed) : random_(seed), pause_(rate), is_closed_loop_(rate == 0) {}
  [[nodiscard]] bool is_due(clock::time_point now) const { return is_closed_loop_ || next_ <= now; }
  /// @return when it was due
  clock::time_point take(clock::time_point now) {
    if (is_closed_loop_) return now;
    const auto due = next_;
    next_ += std::chrono::nanoseconds(static_cast<std::int64_t>(pause_(random_) * 1e9));
    return due;
  }

 private:
  std::mt19937_64 random_;
  std::exponential_distribution<double> pause_;
  bool is_closed_loop_;
  clock::time_point next_ = clock::now();
};

struct waits {
  std::vector<double> answered_ms{};  // since it was due
  std::vector<double> sent_ms{};      // likewise
};

double at_percent(std::vector<double>& all, std::size_t percent_tenths) {
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(all.size() * percent_tenths / 1000);
  std::nth_element(all.begin(), at, all.end());
  return *at;
}

/// A thousand connections with one request in flight each, driven by one thread that never sleeps.
class crowd {
 public:
  explicit crowd(std::uint16_t port) : ready_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::uint32_t c = 0; c < clients; ++c) {
      all_.push_back(std::make_unique<talker>(port));
      epoll_event e{EPOLLIN, {.u32 = c}};
      require(::epoll_ctl(ready_, EPOLL_CTL_ADD, all_[c]->socket(), &e) == 0, "epoll");
      idle_.push_back(c);
    }
  }
  ~crowd() { ::close(ready_); }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  void run(double rate, waits& w) {
    arrivals requests(rate, ++seed_);
    for (auto begin = clock::now(), now = begin; now - begin < round_lasts; now = clock::now()) {
      while (!idle_.empty() && requests.is_due(now)) {
        ask(requests.take(now), w);
        now = clock::now();
      }
      hear(w);
    }
    while (idle_.size() < clients) hear(w);
  }

 private:
  void ask(clock::time_point due, waits& w) {
    const std::uint32_t c = idle_.back();
    idle_.pop_back();
    due_[c] = due;
    w.sent_ms.push_back(since(due));
    const std::string digits = std::to_string(1'000'000'000 + asked_++);
    all_[c]->send("*3\r\n$6\r\nBF.ADD\r\n$1\r\nf\r\n$15\r\nkey--" + digits + "\r\n");
  }

  void hear(waits& w) {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(ready_, events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint32_t c = events[static_cast<std::size_t>(i)].data.u32;
      std::string reply;
      all_[c]->receive(4, reply);
      require(reply == ":1\r\n" || reply == ":0\r\n", reply);
      w.answered_ms.push_back(since(due_[c]));
      idle_.push_back(c);
    }
  }

  [[nodiscard]] static double since(clock::time_point due) {
    return std::chrono::duration<double, std::milli>(clock::now() - due).count();
  }

  int ready_;
  std::vector<std::unique_ptr<talker>> all_{};
  std::vector<std::uint32_t> idle_{};
  std::array<clock::time_point, clients> due_{};
  std::size_t asked_ = 0;
  unsigned seed_ = 0;
};

/// At `load` percent of the maximum rate.
void one_in_flight(benchmark::State& state) {
  require(processors().size() > 1, "the server and its clients need a processor each");
  const double load = static_cast<double>(state.range(0)) / 100;
  static double top_rate = 0;
  for (auto _ : state) {
    const served server("mem:", {"--threads", "1"}, {"taskset", "-c", std::to_string(processors()[0])});
    const on_processor alone(processors()[1]);
    require(talker(server.path()).ask(encoded({"BF.RESERVE", "f", "0.01", "10000000"}), 5) == "+OK\r\n",
            "BF.RESERVE");
    crowd all(server.port());
    const double before = server.cpu_seconds();
    waits w;
    for (std::size_t i = 0; i < rounds; ++i) {
      all.run(load == 1 ? 0 : load * top_rate, w);
      std::this_thread::sleep_for(pause_lasts);
    }
    const double seconds = std::chrono::duration<double>(round_lasts).count() * rounds;
    const double rate = static_cast<double>(w.answered_ms.size()) / seconds;
    if (load == 1) top_rate = rate;
    state.SetIterationTime(seconds);
    state.counters["requests/s"] = rate;
    state.counters["server_busy"] = (server.cpu_seconds() - before) / seconds;
    state.counters["p50_ms"] = at_percent(w.answered_ms, 500);
    state.counters["p99_ms"] = at_percent(w.answered_ms, 990);
    state.counters["p999_ms"] = at_percent(w.answered_ms, 999);
    state.counters["client_late_p99_ms"] = at_percent(w.sent_ms, 990);
  }
}
BENCHMARK(one_in_flight)->UseManualTime()->Iterations(1)->ArgName("load%")->Arg(100)->Arg(50);

}  // namespace
}  // namespace everseen::bench
