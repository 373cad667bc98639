// Whether what clients of each store are told, through faults, is what a single filter would have answered.
// doc/guarantees.md, checked by a machine: test/support/history/checker.hpp says what is legal.
//
// EVERSEEN_HISTORY_SECONDS=N  how long, over all stores; by default 3 seconds for each
// EVERSEEN_HISTORY_SEED=N     begins with the history of this seed

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/open_store.hpp"

#include "test/serve/serving.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/history/run.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using test::cutting_proxy;
using test::history::dice;
using test::history::disaster;
using test::history::stage;

int die_below(dice& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

/// A store, with all that it needs.
class theatre {
 public:
  virtual ~theatre() = default;
  virtual stage set() = 0;
};

class memory_theatre final : public theatre {
 public:
  stage set() override { return {.url = {}, .allowed = {.orphans_answer = true}, .memory = store_.get()}; }

 private:
  std::shared_ptr<store> store_ = open_store("mem:");
};

class file_theatre final : public theatre {
 public:
  stage set() override {
    stage s{.url = [this](dice&) { return "file:" + directory_.path().string(); }};
    s.clients.one_writer = true;
    s.clients.rebuilds = true;
    return s;
  }

 private:
  test::scratch_directory directory_;
};

/// Some clients wait long for a server, and some give up soon, so that their batches are unknown.
std::string patience(dice& random) {
  switch (die_below(random, 3)) {
    case 0:
      return "?timeout=150ms&retry_for=200ms";
    case 1:
      return "?timeout=1s&retry_for=2s";
    default:
      return "?timeout=20s&retry_for=60s";
  }
}

void rest(dice& random) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20 + die_below(random, 400)));
}

std::vector<disaster> disasters_of(cutting_proxy& proxy) {
  const auto direction = [](dice& random) {
    return die_below(random, 2) == 0 ? cutting_proxy::direction::to_server
                                     : cutting_proxy::direction::to_client;
  };
  return {{"connection cut",
           [&, direction](dice& random) {
             proxy.cut_after(direction(random), static_cast<std::size_t>(die_below(random, 1'000)));
           }},
          {"network gone", [&](dice& random) { proxy.refuse(true), rest(random), proxy.refuse(false); }},
          {"network slow", [&](dice& random) { proxy.delay(30ms), rest(random), proxy.delay(0ms); }}};
}

class redis_theatre final : public theatre {
 public:
  explicit redis_theatre(judge_kind judge) : judge_(judge), server_(test::with_aof(config_of(judge))) {}

  stage set() override {
    stage s{.url = [this](dice& random) {
      const std::string options = "/" + patience(random);
      return die_below(random, 3) == 0 ? server_.url(options) : proxy_.url(options);
    }};
    allow(s, judge_);
    s.disasters = disasters_of(proxy_);
    s.disasters.push_back({"server killed", [this](dice&) { server_.kill(), server_.start(); }});
    s.disasters.push_back(
        {"server stopped", [this](dice& random) { server_.pause(), rest(random), server_.resume(); }});
    return s;
  }

  static std::vector<std::string> config_of(judge_kind judge) {
    return judge == judge_kind::server ? test::with_module() : std::vector<std::string>();
  }
  static void allow(stage& s, judge_kind judge) {
    s.clients.judge = judge;
    s.clients.rebuilds = true;
    s.allowed.late_end = 1s;
    s.allowed.whole_in_steps = true;
    if (judge == judge_kind::client) s.allowed.stale_seen = 1s;
  }

 private:
  judge_kind judge_;
  test::redis_server server_;
  cutting_proxy proxy_{server_.port()};
};

/// Two independent servers, so that the partitions of a filter fail one without the other.
class spread_theatre final : public theatre {
 public:
  explicit spread_theatre(judge_kind judge)
      : judge_(judge), one_(redis_theatre::config_of(judge)), other_(redis_theatre::config_of(judge)) {}

  stage set() override {
    stage s{.url = [this](dice& random) {
      return "redis://127.0.0.1:" + std::to_string(one_.proxy.port()) +
             ",127.0.0.1:" + std::to_string(other_.proxy.port()) + "/" + patience(random);
    }};
    redis_theatre::allow(s, judge_);
    for (site* const hit : {&one_, &other_}) {
      std::ranges::move(disasters_of(hit->proxy), std::back_inserter(s.disasters));
      s.disasters.push_back({"server killed", [hit](dice&) { hit->server.kill(), hit->server.start(); }});
      s.disasters.push_back({"server stopped", [hit](dice& random) {
                               hit->server.pause(), rest(random), hit->server.resume();
                             }});
    }
    return s;
  }

 private:
  struct site {
    explicit site(std::vector<std::string> words) : server(test::with_aof(std::move(words))) {}
    test::redis_server server;
    cutting_proxy proxy{server.port()};
  };

  judge_kind judge_;
  site one_;
  site other_;
};

/// A server whose replica takes its place, again and again. All clients wait for the replica, and reach the
/// one that is the master by the same address.
class replicated_theatre final : public theatre {
 public:
  explicit replicated_theatre(judge_kind judge)
      : judge_(judge), master_(std::make_unique<test::redis_server>(config())) {
    add_replica();
  }

  stage set() override {
    stage s{.url = [this](dice& random) { return proxy_.url("/" + patience(random) + "&wait=1"); }};
    s.clients.judge = judge_;
    // A failover may undo an operation on a whole filter: wait= is for keys (redis, Replicas).
    s.has_whole = false;
    s.begin = [this] { wait_for_replica(); };
    s.allowed.looks_ahead = true;
    s.disasters = disasters_of(proxy_);
    s.disasters.push_back({"failover", [this](dice&) { fail_over(); }});
    s.disasters.push_back(
        {"replica stopped", [this](dice& random) { replica_->pause(), rest(random), replica_->resume(); }});
    return s;
  }

 private:
  [[nodiscard]] std::vector<std::string> config() const {
    std::vector<std::string> words = {"--repl-diskless-sync-delay", "0"};
    if (judge_ == judge_kind::server) std::ranges::copy(test::with_module(), std::back_inserter(words));
    return words;
  }
  void add_replica() {
    auto words = config();
    words.insert(words.end(), {"--replicaof", "127.0.0.1", std::to_string(master_->port())});
    replica_ = std::make_unique<test::redis_server>(words);
    wait_for_replica();
  }
  void wait_for_replica() {
    const std::string beat = std::to_string(++beats_);
    master_->run({"SET", "beat", beat});
    test::wait_until([&] { return replica_->run({"GET", "beat"}) == beat; }, "the replica is in step");
  }
  void fail_over() {
    master_->kill();
    replica_->run({"REPLICAOF", "NO", "ONE"});
    master_ = std::move(replica_);
    proxy_.lead_to(master_->port());
    add_replica();
  }

  judge_kind judge_;
  std::unique_ptr<test::redis_server> master_;
  std::unique_ptr<test::redis_server> replica_{};
  cutting_proxy proxy_{master_->port()};
  int beats_ = 0;
};

class served_theatre final : public theatre {
 public:
  stage set() override {
    stage s{.url = [this](dice& random) {
      return "everseen://127.0.0.1:" + std::to_string(die_below(random, 3) == 0 ? port_ : proxy_.port()) +
             patience(random);
    }};
    s.has_jobs = false;
    s.disasters = disasters_of(proxy_);
    s.disasters.push_back({"server killed", [this](dice&) { server_.kill(), server_.start(); }});
    s.disasters.push_back({"server stopped in order", [this](dice&) {
                             (void)server_.stop();
                             server_.start();
                           }});
    s.disasters.push_back({"server stopped", [this](dice& random) {
                             server_.program().send(SIGSTOP), rest(random), server_.program().send(SIGCONT);
                           }});
    return s;
  }

 private:
  test::scratch_directory directory_;
  std::uint16_t port_ = test::free_port();
  test::serving server_{"file:" + directory_.path().string(),
                        {"--listen", "127.0.0.1:" + std::to_string(port_)}};
  cutting_proxy proxy_{port_};
};

struct stage_kind {
  const char* name;
  std::function<std::unique_ptr<theatre>()> make;
};

void PrintTo(const stage_kind& kind, std::ostream* out) {
  *out << kind.name;
}

const stage_kind stage_kinds[] = {
    {"in_memory", [] { return std::make_unique<memory_theatre>(); }},
    {"in_files", [] { return std::make_unique<file_theatre>(); }},
    {"on_redis_judged_by_clients", [] { return std::make_unique<redis_theatre>(judge_kind::client); }},
    {"on_redis_judged_by_servers", [] { return std::make_unique<redis_theatre>(judge_kind::server); }},
    {"on_two_servers_judged_by_clients", [] { return std::make_unique<spread_theatre>(judge_kind::client); }},
    {"on_two_servers_judged_by_servers", [] { return std::make_unique<spread_theatre>(judge_kind::server); }},
    {"on_a_replicated_redis_judged_by_clients",
     [] { return std::make_unique<replicated_theatre>(judge_kind::client); }},
    {"on_a_replicated_redis_judged_by_servers",
     [] { return std::make_unique<replicated_theatre>(judge_kind::server); }},
    {"by_everseen_serve", [] { return std::make_unique<served_theatre>(); }},
};

class Histories : public testing::TestWithParam<stage_kind> {};

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return {};
  return std::stoull(text);
}

// Promise: fresh is given once, a key is seen from then on, and an unknown key was added or not, through
// crashes, outages and operations on whole filters (guarantees, Verdicts).
TEST_P(Histories, AreThoseOfASingleFilter) {
  const auto whole = from_environment("EVERSEEN_HISTORY_SECONDS");
  const auto length = whole ? std::chrono::milliseconds(1'000 * *whole / std::size(stage_kinds)) : 3'000ms;
  std::uint64_t seed =
      from_environment("EVERSEEN_HISTORY_SEED").value_or(std::random_device{}() % 1'000'000'000);
  std::cout << "EVERSEEN_HISTORY_SEED=" << seed << std::endl;
  const auto place = GetParam().make();
  const stage on = place->set();
  test::history::figures sum;
  const auto end = std::chrono::steady_clock::now() + length;
  for (; std::chrono::steady_clock::now() < end; ++seed) {
    const auto fault = run_history(on, seed, sum);
    EXPECT_FALSE(fault) << "EVERSEEN_HISTORY_SEED=" << seed << '\n' << fault.value_or("");
    if (fault) break;
  }
  std::cout << sum << std::endl;
  EXPECT_LE(sum.undecided, 1 + sum.histories / 20);
  EXPECT_GT(sum.operations, sum.lost + sum.refused);
}

INSTANTIATE_TEST_SUITE_P(Stores, Histories, testing::ValuesIn(stage_kinds),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace everseen
