#include "everseen/dedup/keyed_block.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen {

namespace {

TEST(Turnstile, LetsNumbersPassOneAtATimeInOrder) {
  constexpr std::uint64_t count = 2000;
  turnstile gate;
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::uint64_t> order;  // unguarded: the turnstile is the guard
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t mine; (mine = taken++) < count;) {
        gate.wait(mine);
        order.push_back(mine);
        gate.leave(mine);
      }
    });
  threads.clear();
  ASSERT_EQ(order.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(order[i], i);
}

TEST(Turnstile, FormsAWavefrontOfARow) {
  constexpr std::uint64_t count = 500;
  constexpr std::size_t places = 5;
  std::vector<turnstile> row(places);
  std::vector<std::vector<std::uint64_t>> order(places);
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t mine; (mine = taken++) < count;)
        for (std::size_t p = 0; p < places; ++p) {
          row[p].wait(mine);
          order[p].push_back(mine);
          row[p].leave(mine);
        }
    });
  threads.clear();
  for (const auto& passed : order) {
    ASSERT_EQ(passed.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(passed[i], i);
  }
}

}  // namespace

}  // namespace everseen
