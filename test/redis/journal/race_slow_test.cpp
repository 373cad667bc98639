// Filters that their clients judge: many concurrent processes, and a server that is killed meanwhile.

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/child_process.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::child_process;
using test::claim_events;
using test::counters_of;
using test::event;
using test::random_digests;

class JournalRace : public JudgedByClients {};

TEST_F(JournalRace, DistantClientSucceedsBesideABusyOne) {
  (void)make({.capacity = 50'000, .error_rate = 1e-9, .partitions = 1});
  test::cutting_proxy proxy(server_.port());
  proxy.delay(20ms);
  const auto far = client_by(proxy);
  std::atomic<bool> is_in = false;
  // Continues until the other client is done; if that were starved, indefinitely.
  std::jthread near([&] {
    const auto busy = client();
    random_digests random(62);
    while (!is_in) EXPECT_TRUE(add_keys(*busy, random.take(1)).result);
  });
  random_digests random(63);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fresh_in(add_keys(*far, random.take(5))), 5u);
  is_in = true;
}

TEST_F(JournalRace, OfSixteenProcessesExactlyOneGetsFresh) {
  constexpr std::size_t all_keys = 200'000;
  (void)make({.capacity = 50'000, .error_rate = 1e-12, .partitions = 4});
  const auto keys = random_digests(61).take(all_keys);
  std::vector<int> fresh(all_keys, 0);
  {
    std::vector<std::unique_ptr<child_process>> all;
    for (std::size_t process = 0; process < 16; ++process)
      all.push_back(std::make_unique<child_process>([&](const auto& tell) {
        try {
          const auto filter = client();
          // Some with records so long that each is in a chunk of its own. Each starts at another key, and
          // every other process runs backwards.
          const std::size_t batch = process % 4 < 2 ? 500 : 20'000;
          for (std::size_t i = 0; i < all_keys / batch; ++i) {
            const std::size_t step = process % 2 == 0 ? i : all_keys / batch - 1 - i;
            const std::size_t from = (step * batch + process * all_keys / 16) % all_keys;
            const std::size_t some = std::min(batch, all_keys - from);
            const auto got = add_keys(*filter, std::span(keys).subspan(from, some));
            if (!got.result) throw backend_error(got.result.error().message);
            for (std::size_t k = 0; k < some; ++k)
              if (got.verdicts[k] == verdict::fresh) tell(static_cast<int>(from + k));
          }
          tell(-1);
        } catch (const std::exception& e) {
          std::fprintf(stderr, "process %zu: %s\n", process, e.what());
        }
      }));
    for (const auto& one : all) {
      int last = 0;
      while (const auto told = one->next()) {
        last = *told;
        if (last >= 0) ++fresh[static_cast<std::size_t>(last)];
      }
      EXPECT_EQ(last, -1) << "a process did not finish";
    }
  }
  EXPECT_EQ(std::ranges::count(fresh, 1), static_cast<std::ptrdiff_t>(all_keys));
  EXPECT_EQ(test::keys_in(*client()), all_keys);
}

class JournalCrash : public JudgedByClients {
 protected:
  JournalCrash() : JudgedByClients(test::with_aof({"--aof-load-truncated", "yes"})) {}
  /// Kills the server and restarts it several times; until then its clients continue.
  void kill_repeatedly() {
    random_digests random(72);
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30 + random.word() % 200));
      server_.kill();
      server_.start();
      // Repairs a possible half block (doc/redis.md, "A torn AOF").
      (void)server_.run({"BGREWRITEAOF"});
    }
    is_over_ = true;
  }
  std::atomic<bool> is_over_ = false;
};

TEST_F(JournalCrash, ClientsThatAddBesideAKilledServerGetFreshOnce) {
  constexpr std::size_t all_keys = 40'000;
  (void)make({.capacity = 20'000, .error_rate = 1e-12, .partitions = 3});
  const auto keys = random_digests(71).take(all_keys);
  std::vector<std::atomic<int>> fresh(all_keys);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const auto filter = store_at(server_.unix_url())->open("clicks", access::write);
        random_digests random(80 + t);
        while (!is_over_) {
          const std::size_t some = random.word() % 4 == 0 ? 3 * many : 400;
          const std::size_t from = random.word() % (all_keys - some);
          const auto got = add_keys(*filter, std::span(keys).subspan(from, some));
          EXPECT_TRUE(got.result) << got.result.error().message;
          for (std::size_t k = 0; k < some; ++k) fresh[from + k] += got.verdicts[k] == verdict::fresh;
        }
      });
    kill_repeatedly();
  }
  const auto got = add_keys(*client(), keys);
  for (std::size_t k = 0; k < all_keys; ++k) fresh[k] += got.verdicts[k] == verdict::fresh;
  EXPECT_EQ(std::ranges::count_if(fresh, [](const auto& n) { return n == 1; }),
            static_cast<std::ptrdiff_t>(all_keys));
  EXPECT_EQ(test::keys_in(*client()), all_keys);
}

TEST_F(JournalCrash, ClaimsBesideAKilledServerCountOnce) {
  const spec_request request{.capacity = 20'000, .error_rate = 1e-12, .partitions = 2};
  const auto made = make(request);
  (void)made->open_ledger("count", "");
  std::vector<std::map<std::string, std::int64_t>> exact(4);
  std::vector<std::set<std::pair<std::uint64_t, std::uint64_t>>> fresh(4);
  const auto keys = random_digests(73).take(12'000);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const opened_job job(store_at(server_.unix_url())->open("clicks", access::write));
        random_digests random(90 + t);
        std::uint64_t some = 0;
        for (std::uint64_t from = 0; !is_over_; from += some) {
          some = random.word() % 8 == 0 ? 2 * many : 30;
          std::vector<event> events;
          for (std::uint64_t i = 0; i < some; ++i) {
            const digest key = keys[random.word() % keys.size()];
            events.push_back({from + i, key, {}, {"all", "c" + std::to_string(key.low % 50)}});
          }
          const auto got = claim_events(*job, made->get_spec(), {"lane" + std::to_string(t), from}, events);
          EXPECT_TRUE(got.result) << got.result.error().message;
          for (std::size_t i = 0; i < events.size(); ++i) {
            if (got.verdicts[i] != verdict::fresh) continue;
            for (const auto& name : events[i].counters) ++exact[t][name];
            EXPECT_TRUE(fresh[t].insert({events[i].key.low, events[i].key.high}).second);
          }
        }
      });
    kill_repeatedly();
  }
  std::map<std::string, std::int64_t> sums;
  std::set<std::pair<std::uint64_t, std::uint64_t>> ever;
  for (std::size_t t = 0; t < 4; ++t) {
    for (const auto& [name, n] : exact[t]) sums[name] += n;
    for (const auto& key : fresh[t]) EXPECT_TRUE(ever.insert(key).second) << "fresh for two lanes";
  }
  EXPECT_EQ(counters_of(*opened_job(client())), sums);
  EXPECT_EQ(test::keys_in(*client()), ever.size());
}

}  // namespace
}  // namespace everseen::redis
