// Question: what throughput does `everseen serve` reach, and how much of the speed of a Redis behind it
// remains?
//
// A real server in a separate process, over a Unix socket. `server_keys/cpu_s` uses only the server's CPU
// time, because wall time includes the clients here and other work on the machine. Each run adds fresh keys
// to a filter at an error rate of 1e-2 and then looks all of them up, so the answers are checked before
// anything is printed.

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/served.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

/// 15 bytes each.
std::string key(std::size_t i) {
  std::string digits = std::to_string(i);
  return "key-" + std::string(11 - digits.size(), '0') + digits;
}

/// Requests about consecutive keys, a fixed number in each.
struct pipeline {
  std::string bytes;
  std::size_t keys = 0;
  std::size_t reply_bytes = 0;
};

pipeline make_pipeline(const std::string& command, std::size_t from, std::size_t keys,
                       std::size_t a_request) {
  pipeline p{{}, keys, 4 * keys};
  for (std::size_t i = 0; i < keys; i += a_request) {
    std::vector<std::string> words = {command, "f"};
    for (std::size_t j = i; j < i + a_request; ++j) words.push_back(key(from + j));
    p.bytes += encoded(words);
    if (command[3] == 'M') p.reply_bytes += std::to_string(a_request).size() + 3;
  }
  return p;
}

/// Sends everything while it reads, and returns the replies.
std::string exchange(const std::string& path, const pipeline& p) {
  talker client(path);
  std::thread sender([&] { client.send(p.bytes); });
  std::string replies;
  replies.reserve(p.reply_bytes);
  client.receive(p.reply_bytes, replies);
  sender.join();
  return replies;
}

std::size_t count_of(const std::string& replies, std::string_view reply) {
  std::size_t found = 0;
  for (std::size_t at = replies.find(reply); at != std::string::npos; at = replies.find(reply, at + 1))
    ++found;
  return found;
}

void reserve(const served& server, std::size_t capacity) {
  require(talker(server.path()).ask(encoded({"BF.RESERVE", "f", "0.01", std::to_string(capacity)}), 5) ==
              "+OK\r\n",
          "BF.RESERVE");
}

/// Adds keys over several connections in parallel, then looks them up; checks both answers.
/// @param goal  keys a second of the server's CPU time, adding
void pipelined(benchmark::State& state, const std::string& add, const std::string& check,
               std::size_t a_request, double goal) {
  const auto connections = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t all_keys = 4'000'000;
  double add_cpu = 0, check_cpu = 0, wall = 0;
  for (auto _ : state) {
    served server("mem:", {"--threads", std::to_string(connections)});
    reserve(server, all_keys);
    const std::size_t share = all_keys / connections;
    const auto run = [&](const std::string& command, std::string_view expected) {
      std::vector<pipeline> pipelines(connections);
      std::vector<std::string> replies(connections);
      for (std::size_t c = 0; c < connections; ++c)
        pipelines[c] = make_pipeline(command, c * share, share, a_request);
      const double before = server.cpu_seconds();
      wall = seconds([&] {
        std::vector<std::thread> threads;
        for (std::size_t c = 0; c < connections; ++c)
          threads.emplace_back([&, c] { replies[c] = exchange(server.path(), pipelines[c]); });
        for (std::thread& each : threads) each.join();
      });
      const double cpu = server.cpu_seconds() - before;
      std::size_t right = 0;
      for (const std::string& each : replies) right += count_of(each, expected);
      require(static_cast<double>(right) > 0.985 * all_keys, command + " of " + std::to_string(right));
      return cpu;
    };
    add_cpu += run(add, ":1\r\n");
    state.SetIterationTime(wall);
    check_cpu += run(check, ":1\r\n");
  }
  const double keys = static_cast<double>(all_keys) * static_cast<double>(state.iterations());
  state.counters["add_keys/cpu_s"] = keys / add_cpu;
  state.counters["check_keys/cpu_s"] = keys / check_cpu;
  state.counters["vs_goal"] = keys / add_cpu / goal;
}

void shape(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond)->ArgName("connections")->Arg(1)->Arg(2);
}

BENCHMARK_CAPTURE(pipelined, madd_100, "BF.MADD", "BF.MEXISTS", 100, 12e6)->Apply(shape);
BENCHMARK_CAPTURE(pipelined, add, "BF.ADD", "BF.EXISTS", 1, 2e6)->Apply(shape);

/// In front of a Redis: 64 clients that send BF.MADD with 100 keys, compared with the library, which sends
/// batches of 16,000.
void in_front_of_redis(benchmark::State& state) {
  constexpr std::size_t clients = 64, keys = 400'000, a_request = 100, a_batch = 16'000;
  double direct = 0, through = 0, redis_direct = 0, redis_through = 0;
  for (auto _ : state) {
    redis_server redis;
    {
      filter f = create(redis.url(), "direct", {.capacity = keys, .error_rate = 0.01});
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < keys; ++i) texts.push_back(key(i));
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      std::vector<verdict> out(a_batch);
      std::uint64_t fresh = 0;
      const double before = redis.cpu_seconds();
      direct = seconds([&] {
        for (std::size_t i = 0; i < keys; i += a_batch)
          fresh += f.add(std::span(views).subspan(i, a_batch), out)->fresh;
      });
      redis_direct = redis.cpu_seconds() - before;
      require(static_cast<double>(fresh) > 0.985 * keys, "direct");
    }
    served server(redis.url(), {});
    reserve(server, keys);
    std::vector<std::thread> threads;
    std::vector<std::size_t> fresh(clients);
    const double before = redis.cpu_seconds();
    through = seconds([&] {
      for (std::size_t c = 0; c < clients; ++c)
        threads.emplace_back([&, c] {
          const std::size_t share = keys / clients / a_request * a_request;
          fresh[c] = count_of(exchange(server.path(), make_pipeline("BF.MADD", c * share, share, a_request)),
                              ":1\r\n");
        });
      for (std::thread& each : threads) each.join();
    });
    redis_through = redis.cpu_seconds() - before;
    std::size_t sum = 0;
    for (const std::size_t each : fresh) sum += each;
    require(static_cast<double>(sum) > 0.98 * (keys / clients / a_request * a_request * clients),
            "through the server");
    state.SetIterationTime(through);
  }
  state.counters["direct_keys/s"] = keys / direct;
  state.counters["served_keys/s"] = keys / through;
  state.counters["vs_direct"] = direct / through;
  state.counters["redis_cpu_vs_direct"] = redis_direct / redis_through;
}
BENCHMARK(in_front_of_redis)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench
