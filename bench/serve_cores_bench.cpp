// Question: how much throughput does a second core add to `everseen serve`?
//
// Running clients would occupy one of the measured cores. So the server is stopped while the clients fill
// its sockets, and the time is measured from its continuation to its last reply, while the clients sleep.
// Both runs use the same server and the same filter, over the connections of one of its threads or of both.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/ioctl.h>
#include <sys/socket.h>

#include "bench/served.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t a_request = 100, a_connection = 40 * a_request, connections = 128;

/// Requests about new keys.
std::string fresh_requests(std::size_t& next) {
  std::string bytes;
  for (std::size_t i = 0; i < a_connection; i += a_request) {
    std::vector<std::string> words = {"BF.MADD", "f"};
    for (std::size_t j = 0; j < a_request; ++j)
      words.push_back("key-" + std::to_string(10'000'000'000 + next++));
    bytes += encoded(words);
  }
  return bytes;
}

bool has_replied(const talker& t, std::size_t bytes) {
  int waiting = 0;
  require(::ioctl(t.socket(), FIONREAD, &waiting) == 0, "FIONREAD");
  return static_cast<std::size_t>(waiting) >= bytes;
}

/// Keys a second over the connections of the server's first thread, or over the same number from both
/// threads.
double rate_of(const served& server, const std::vector<std::unique_ptr<talker>>& all, std::size_t cores,
               std::size_t& next) {
  constexpr std::size_t reply_bytes = a_connection * 4 + a_connection / a_request * 6;
  std::vector<talker*> used;  // connections are assigned to the threads in turn
  for (std::size_t c = 0; c < connections; c += 2) used.push_back(all[cores == 2 ? c / 2 : c].get());
  std::vector<std::string> requests;
  for (std::size_t c = 0; c < used.size(); ++c) requests.push_back(fresh_requests(next));
  server.pause();
  for (std::size_t c = 0; c < used.size(); ++c) used[c]->send(requests[c]);
  const double took = seconds([&] {
    server.resume();
    for (talker* each : used)
      while (!has_replied(*each, reply_bytes)) std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  for (talker* each : used) {
    std::string replies;
    each->receive(reply_bytes, replies);
    require(replies.starts_with("*100\r\n:"), replies);
  }
  return static_cast<double>(used.size() * a_connection) / took;
}

void two_cores(benchmark::State& state) {
  require(processors().size() > 1, "there is one core");
  constexpr std::size_t rounds = 15;
  std::vector<double> one, two;
  for (auto _ : state) {
    const served server("mem:", {"--threads", "2"});
    require(talker(server.path()).ask(encoded({"BF.RESERVE", "f", "0.01", "20000000"}), 5) == "+OK\r\n",
            "BF.RESERVE");
    std::vector<std::unique_ptr<talker>> all;
    for (std::size_t c = 0; c < connections; ++c) all.push_back(std::make_unique<talker>(server.path()));
    std::size_t next = 0;
    for (std::size_t i = 0; i < rounds; ++i) {  // alternating, as the filter fills
      one.push_back(rate_of(server, all, 1, next));
      two.push_back(rate_of(server, all, 2, next));
    }
    state.SetIterationTime(1);
  }
  const auto middle = [](std::vector<double>& rates) {
    std::nth_element(rates.begin(), rates.begin() + rates.size() / 2, rates.end());
    return rates[rates.size() / 2];
  };
  state.counters["one_core_keys/s"] = middle(one);
  state.counters["two_cores_keys/s"] = middle(two);
  state.counters["two_vs_one"] = middle(two) / middle(one);
}
BENCHMARK(two_cores)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace everseen::bench
