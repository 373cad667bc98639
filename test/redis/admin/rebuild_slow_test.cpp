// Repeated rebuilds of a filter while several processes add and look up keys.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "test/redis/judges.hpp"
#include "test/support/child_process.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::child_process;
using test::random_digests;
using test::redis_cluster;
using test::redis_server;

constexpr std::size_t writers = 3;
constexpr std::size_t readers = 2;
constexpr std::size_t new_keys = 12'000;
constexpr std::size_t old_keys = 2'000;
constexpr std::size_t keys_a_rebuild_batch = 60;
constexpr int least_rebuilds = 6;
constexpr int no_batch = -1;

/// The state that all processes share.
struct board {
  std::atomic<int> fresh[new_keys];          ///< how many got `fresh`
  std::atomic<bool> acknowledged[new_keys];  ///< some process was told that the key is in
  std::atomic<int> failures;                 ///< verdicts that must never occur
  std::atomic<int> batches[writers];         ///< how many each writer has done, or no_batch while it waits
  std::atomic<int> writing;                  ///< writers that are not done
  std::atomic<int> rebuilds;                 ///< how many have ended
};

class shared_board {
 public:
  shared_board()
      : board_(static_cast<board*>(
            ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    new (board_) board{};
  }
  ~shared_board() { ::munmap(board_, sizeof(board)); }
  shared_board(const shared_board&) = delete;
  shared_board& operator=(const shared_board&) = delete;
  board* operator->() const noexcept { return board_; }

 private:
  board* board_;
};

std::vector<digest> future_keys() {
  return random_digests(1).take(new_keys);
}

std::vector<digest> keys_from_before() {
  return random_digests(2).take(old_keys);
}

void fail(const shared_board& all, const char* who, const std::string& why) {
  if (all->failures++ < 5) std::fprintf(stderr, "%s: %s\n", who, why.c_str());
}

/// Without pauses a writer would finish before a second rebuild, which takes a second where clients judge.
std::chrono::milliseconds pause_of(judges judge) {
  return judge == judges::clients ? 50ms : 15ms;
}

/// Where rebuilds are slow, writers wait for them, with no batch in flight: so batches fall into at least
/// this many rebuilds on any machine.
void wait_for_rebuilds(std::size_t number, std::size_t keys_after_the_batch, const shared_board& all) {
  const auto due = static_cast<int>(keys_after_the_batch) * least_rebuilds / static_cast<int>(new_keys);
  if (all->rebuilds >= due) return;
  const int before = all->batches[number].exchange(no_batch);
  while (all->rebuilds < due) std::this_thread::sleep_for(1ms);
  all->batches[number] = before;
}

/// Adds all keys in an order of its own, with some old keys in each batch.
void write(const std::string& url, std::size_t number, std::chrono::milliseconds pause,
           const shared_board& all) {
  const auto filter = store_at(url)->open("busy", access::write);
  const auto keys = future_keys();
  const auto old = keys_from_before();
  for (std::size_t from = 0; from < new_keys; from += keys_a_rebuild_batch) {
    wait_for_rebuilds(number, from + keys_a_rebuild_batch, all);
    const std::size_t begin = (from + number * 300) % new_keys;
    std::vector<digest> batch(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                              keys.begin() + static_cast<std::ptrdiff_t>(begin + keys_a_rebuild_batch));
    for (std::size_t i = 0; i < 5; ++i) batch.push_back(old[(from + i) % old_keys]);
    const auto got = test::add_keys(*filter, batch);
    if (!got.result) fail(all, "writer", got.result.error().message);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const bool is_old = i >= keys_a_rebuild_batch;
      if (got.verdicts[i] == verdict::unknown) fail(all, "writer", "no verdict");
      if (is_old && got.verdicts[i] == verdict::fresh) fail(all, "writer", "an old key is fresh");
      if (is_old) continue;
      all->fresh[begin + i] += got.verdicts[i] == verdict::fresh;
      all->acknowledged[begin + i] = got.verdicts[i] != verdict::unknown;
    }
    ++all->batches[number];
    std::this_thread::sleep_for(pause);
  }
  all->batches[number] = no_batch;
  --all->writing;
}

/// Looks up keys that some process was told are in.
void read(const std::string& url, const shared_board& all) {
  const auto filter = store_at(url)->open("busy", access::read);
  const auto keys = future_keys();
  const auto old = keys_from_before();
  for (std::size_t round = 0; all->writing > 0; ++round) {
    std::vector<digest> batch(old.begin(), old.begin() + 20);
    for (std::size_t i = round % 97; i < new_keys; i += 97)
      if (all->acknowledged[i]) batch.push_back(keys[i]);
    const auto got = test::check_keys(*filter, batch);
    if (!got.result) fail(all, "reader", got.result.error().message);
    for (const verdict v : got.verdicts)
      if (v != verdict::seen) fail(all, "reader", "a key is " + std::string(to_string(v)));
  }
}

/// The only keys that a started rebuild may lack: those added before it. Batches in flight at its start
/// belong to them, so it waits for these batches.
std::vector<digest> acknowledged(const shared_board& all) {
  for (const std::atomic<int>& done : all->batches)
    for (const int before = done; before != no_batch && done == before;) std::this_thread::sleep_for(1ms);
  const auto keys = future_keys();
  std::vector<digest> in;
  for (std::size_t i = 0; i < new_keys; ++i)
    if (all->acknowledged[i]) in.push_back(keys[i]);
  return in;
}

void rebuild_while_in_use(const std::string& url, judges judge) {
  const auto store = store_at(url);
  const auto spec_of = [&](std::uint64_t capacity, std::uint32_t partitions) {
    return planned(*store, {.capacity = capacity,
                            .error_rate = 1e-12,
                            .partitions = partitions,
                            .judge = judge == judges::clients ? judge_kind::client : judge_kind::server});
  };
  const auto old = keys_from_before();
  ASSERT_TRUE(test::add_keys(*store->create("busy", spec_of(4'000, 3)), old).result);
  const shared_board all;
  all->writing = writers;
  std::vector<std::unique_ptr<child_process>> others;
  for (std::size_t i = 0; i < writers; ++i)
    others.push_back(std::make_unique<child_process>([&](auto&&) { write(url, i, pause_of(judge), all); }));
  for (std::size_t i = 0; i < readers; ++i)
    others.push_back(std::make_unique<child_process>([&](auto&&) { read(url, all); }));

  const std::uint32_t partitions[] = {4, 2, 5, 3};
  while (all->writing > 0) {
    const auto rebuild = store->begin_rebuild("busy", spec_of(20'000, partitions[all->rebuilds % 4]), {});
    ASSERT_TRUE(test::add_keys(*rebuild->target(), old).result);
    ASSERT_TRUE(test::add_keys(*rebuild->target(), acknowledged(all)).result);
    if (all->rebuilds % 5 != 4) rebuild->commit();  // otherwise it is abandoned
    ++all->rebuilds;
  }
  for (const auto& one : others)
    while (one->next()) {
    }
  EXPECT_GE(all->rebuilds, least_rebuilds);
  EXPECT_EQ(all->failures, 0);
  int twice = 0;
  int never = 0;
  for (const auto& times : all->fresh) {
    twice += times > 1;
    never += times == 0;
  }
  EXPECT_EQ(twice, 0) << "keys were fresh for more than one process";
  EXPECT_EQ(never, 0) << "keys were never fresh";
  EXPECT_EQ(tally_of(test::check_keys(*store->open("busy", access::read), future_keys())).seen, new_keys);
}

class RebuildInUse : public testing::TestWithParam<judges> {
 protected:
  static std::vector<std::string> config() {
    return GetParam() == judges::servers ? test::with_module() : std::vector<std::string>();
  }
};
INSTANTIATE_TEST_SUITE_P(JudgedBy, RebuildInUse, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

// Promise: a rebuild of a filter in use loses nothing and fails for no client (redis, Rebuild).
TEST_P(RebuildInUse, OnOneServerLosesNothingAndFailsForNoClient) {
  const redis_server server(config());
  rebuild_while_in_use(server.url(), GetParam());
}

// Promise: a rebuild of a filter in use loses nothing and fails for no client (redis, Rebuild).
TEST_P(RebuildInUse, OnAClusterLosesNothingAndFailsForNoClient) {
  redis_cluster cluster(redis_cluster::replicas::none, config());
  rebuild_while_in_use(cluster.url(), GetParam());
}

}  // namespace
}  // namespace everseen::redis
