// Sixteen processes create, fill and rotate one filter concurrently.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/spec/growth.hpp"

#include "test/redis/stored.hpp"
#include "test/support/child_process.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::child_process;
using test::random_digests;
using test::redis_cluster;
using test::redis_server;

constexpr int processes = 16;
constexpr int steps = 8;
constexpr std::size_t keys_a_step = 300;
constexpr std::size_t keys_a_race_batch = 60;
constexpr window_spec window{60s, 4};

event_time time_of(int step) {
  return event_time(15s * step);
}

spec raced_spec() {
  return make_spec({.capacity = 300,
                    .error_rate = 1e-12,
                    .layout = layout_kind::classic,
                    .probes = 19,
                    .seed = hash_seed{},
                    .window = window,
                    .partitions = 4});
}

std::vector<digest> keys_of(int step) {
  return random_digests(100 + static_cast<std::uint64_t>(step)).take(keys_a_step);
}

std::shared_ptr<stored_filter> open_or_create(redis_store& store) {
  try {
    return store.create("raced", raced_spec());
  } catch (const name_taken&) {
    return store.open("raced", access::write);
  }
}

/// Adds all keys, step by step, each process in another order within the step. Reports the numbers of the
/// keys that got `fresh`, and last how many verdicts were neither fresh nor seen nor late.
void take_part(const std::string& url, int process, const child_process::tell& tell) {
  auto filter = open_or_create(*store_at(url));
  int unanswered = 0;
  for (int step = 0; step < steps; ++step) {
    const auto keys = keys_of(step);
    for (std::size_t from = 0; from < keys_a_step; from += keys_a_race_batch) {
      const std::size_t begin = (from + static_cast<std::size_t>(process) * keys_a_race_batch) % keys_a_step;
      const auto some = std::span(keys).subspan(begin, keys_a_race_batch);
      auto got = test::add_keys(*filter, some, time_of(step));
      for (int again = 0; !got.result && again < 50; ++again) {
        filter = open_or_create(*store_at(url));
        for (std::size_t i = 0; i < keys_a_race_batch; ++i) {
          if (got.verdicts[i] != verdict::unknown) continue;
          const auto one = test::add_keys(*filter, some.subspan(i, 1), time_of(step));
          got.verdicts[i] = one.verdicts.front();
          got.result = one.result;
          if (!one.result) break;
        }
      }
      for (std::size_t i = 0; i < keys_a_race_batch; ++i) {
        if (got.verdicts[i] == verdict::fresh)
          tell(static_cast<int>(static_cast<std::size_t>(step) * keys_a_step + begin + i));
        unanswered += got.verdicts[i] == verdict::unknown;
      }
    }
  }
  tell(-1 - unanswered);
}

/// Layers filled one after the other with this many keys.
slice_state filled(const spec& s, window::slice_index index, std::uint64_t keys) {
  slice_state slice{index, {}};
  do {
    const auto plan = growth::plan_layer(s, static_cast<unsigned>(slice.layers.size()));
    const std::uint64_t here = std::min(keys, plan.capacity);
    slice.layers.push_back({plan.shape, plan.capacity, here});
    keys -= here;
  } while (keys > 0);
  return slice;
}

/// The required final state of a partition.
partition_state expected_state(const spec& s, std::uint32_t partition) {
  partition_state state;
  const auto newest = window::slice_at(window, time_of(steps - 1));
  for (int step = 0; step < steps; ++step) {
    const auto index = window::slice_at(window, time_of(step));
    if (index < window::oldest_live(window, newest)) continue;
    std::uint64_t keys = 0;
    for (const digest& d : keys_of(step)) keys += partition_of(d, s.partitions) == partition;
    state.slices.push_back(filled(s, index, keys));
  }
  return state;
}

/// @param urls  of one store; the processes alternate between them
void expect_every_key_fresh_once(const std::vector<std::string>& urls) {
  std::vector<int> fresh(steps * keys_a_step, 0);
  {
    std::vector<std::unique_ptr<child_process>> all;
    for (int p = 0; p < processes; ++p)
      all.push_back(std::make_unique<child_process>([&](const auto& tell) {
        try {
          take_part(urls[static_cast<std::size_t>(p) % urls.size()], p, tell);
        } catch (const std::exception& e) {
          std::fprintf(stderr, "process %d: %s\n", p, e.what());
        }
      }));
    for (const auto& one : all) {
      int last = 0;
      while (const auto told = one->next()) {
        last = *told;
        if (last >= 0) ++fresh.at(static_cast<std::size_t>(last));
      }
      EXPECT_EQ(last, -1) << "a process crashed, or some keys were not answered";
    }
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) EXPECT_EQ(fresh[i], 1) << "key " << i;
}

void race(const std::string& url, const std::vector<const redis_server*>& servers) {
  expect_every_key_fresh_once({url});
  const auto filter = store_at(url)->open("raced", access::read);
  const spec& s = filter->get_spec();
  const auto has_names = [](const redis_server* server) {
    return server->run({"EXISTS", "everseen:{names}"}) == "1";
  };
  const auto first = std::ranges::find_if(servers, has_names);
  ASSERT_NE(first, servers.end());
  const filter_keys names = identity_at(**first, "raced", s).keys;
  std::set<std::string> expected = {"everseen:{names}", "everseen:{names}:sign", names.header()};
  for (std::uint32_t p = 0; p < s.partitions; ++p) {
    const partition_state state = filter->state(p);
    EXPECT_EQ(state, expected_state(s, p)) << "partition " << p;
    EXPECT_GT(state.slices.back().layers.size(), 1u) << "nothing grew, so nothing was tested";
    expected.insert(names.state(p));
  }
  std::set<std::string> kept;  // tokens and the preparations of a race's loser expire
  for (const redis_server* server : servers)
    for (const std::string& key : keys_like(*server, "*"))
      if (server->run({"PTTL", key}) == "-1") kept.insert(key);
  EXPECT_EQ(kept, expected);
}

// Promise: of many processes that add the same key exactly one gets fresh (redis, What holds for all filters
// on Redis).
TEST(Race, OnOneServerEveryKeyIsFreshOnce) {
  redis_server server(test::with_module());
  race(server.url(), {&server});
}

// Promise: of many processes that add the same key exactly one gets fresh (redis, What holds for all filters
// on Redis).
TEST(Race, OnAClusterEveryKeyIsFreshOnce) {
  redis_cluster cluster(redis_cluster::replicas::none, test::with_module());
  race(cluster.url(), {&cluster.node(0), &cluster.node(1), &cluster.node(2)});
}

/// Repeatedly creates, opens and drops a name. Reports how often it appeared damaged, or failed in a way that
/// none of these races explains.
void create_and_drop(const std::string& url, const child_process::tell& tell) {
  const auto store = store_at(url);
  int surprises = 0;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const name_taken&) {
    } catch (const parameter_error&) {  // there is none
    } catch (const storage_error&) {    // it is being dropped
    } catch (const error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      ++surprises;
    }
  };
  for (int i = 0; i < 100; ++i) {
    attempt([&] { (void)store->create("fleeting", raced_spec()); });
    attempt([&] { (void)store->open("fleeting", access::write); });
    attempt([&] { store->drop("fleeting"); });
  }
  tell(surprises);
}

TEST(Race, CreatingAndDroppingOneNameNeverAppearsAsDamage) {
  const redis_server server;
  {
    std::vector<std::unique_ptr<child_process>> all;
    for (int p = 0; p < 4; ++p)
      all.push_back(
          std::make_unique<child_process>([&](const auto& tell) { create_and_drop(server.url(), tell); }));
    for (const auto& one : all) EXPECT_EQ(one->next(), 0);
  }
  if (store_at(server.url())->exists("fleeting")) store_at(server.url())->drop("fleeting");
  EXPECT_EQ(server.run({"HKEYS", "everseen:{names}"}), "") << "a name was left in the index";
}

}  // namespace
}  // namespace everseen::redis
