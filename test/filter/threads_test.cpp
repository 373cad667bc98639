#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/model/exact_partition.hpp"
#include "test/support/printing.hpp"
#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

constexpr std::size_t keys = 4'000;
constexpr unsigned writers = 4;

/// Grows continually, and errs so rarely that counts are exact.
filter make_shared_filter(std::uint32_t partitions, std::optional<window_spec> w = {}) {
  return {"f", memory_store().create("f", test::errorless(100, growth_kind::grow, w, partitions))};
}

/// The same keys in a different order for each writer, in batches of many lengths.
template <typename Add>
void add_in_own_order(unsigned writer, std::vector<digest> mine, Add add) {
  test::random_digests random(writer);
  for (std::size_t i = mine.size(); i > 1; --i) std::swap(mine[i - 1], mine[random.word() % i]);
  for (std::size_t from = 0; from < mine.size();) {
    const std::size_t n = std::min<std::size_t>(mine.size() - from, 1 + random.word() % 700);
    add(std::span(mine).subspan(from, n));
    from += n;
  }
}

// Promise: of many threads that add the same key exactly one gets fresh (guarantees, Batches and threads).
TEST(Threads, OfManyThatAddAKeyExactlyOneGetsFresh) {
  for (const std::uint32_t partitions : {1U, 7U}) {
    const filter f = make_shared_filter(partitions);
    const std::vector<digest> all = test::random_digests(5).take(keys);
    std::atomic<std::uint64_t> fresh{0};
    std::atomic<std::uint64_t> seen{0};
    {
      std::vector<std::jthread> threads;
      for (unsigned w = 0; w < writers; ++w)
        threads.emplace_back([&, w, mine = f]() mutable {
          std::vector<verdict> out(keys);
          add_in_own_order(w, all, [&](std::span<const digest> some) {
            const batch_result result = mine.add_digests(some, std::span(out).first(some.size()));
            ASSERT_TRUE(result);
            fresh += result->fresh;
            seen += result->seen;
          });
        });
    }
    EXPECT_EQ(fresh, keys);
    EXPECT_EQ(seen, (writers - 1) * keys);
    EXPECT_EQ(f.info().keys, keys);
  }
}

// Promise: a look-up finds every key that was added before it (guarantees, Batches and threads).
TEST(Threads, ReadersMissNoKeyThatWasAddedBefore) {
  filter f = make_shared_filter(3);
  const std::vector<digest> all = test::random_digests(6).take(keys);
  const std::vector<digest> never = test::random_digests(7).take(100);
  std::atomic<std::size_t> added{0};
  std::vector<std::jthread> threads;
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([&] {
      std::vector<verdict> out(keys);
      for (std::size_t before = 0; before < keys;) {
        before = added.load(std::memory_order_acquire);
        const auto result = f.may_contain_digests(std::span(all).first(before), std::span(out).first(before));
        ASSERT_EQ(result->seen, before);
        ASSERT_EQ(f.may_contain_digests(never, std::span(out).first(never.size()))->fresh, never.size());
        ASSERT_GE(f.info().keys, before);
      }
    });
  std::vector<verdict> out(keys);
  for (std::size_t from = 0; from < keys; from += 50) {
    ASSERT_TRUE(f.add_digests(std::span(all).subspan(from, 50), std::span(out).first(50)));
    added.store(from + 50, std::memory_order_release);
    std::this_thread::yield();
  }
}

// Promise: a window may rotate while threads use it (guarantees, Batches and threads).
TEST(Threads, RotateAWindowConcurrently) {
  filter f = make_shared_filter(3, window_spec{std::chrono::milliseconds(400), 4});
  std::atomic<std::uint64_t> fresh{0};
  const std::vector<digest> all = test::random_digests(8).take(200);
  {
    std::vector<std::jthread> threads;
    for (unsigned w = 0; w < writers; ++w)
      threads.emplace_back([&] {
        std::vector<verdict> out(all.size());
        for (int ms = 0; ms < 3000; ms += 50) {
          const event_time time{std::chrono::milliseconds(ms)};
          const batch_result result = f.add_digests(all, out, {&time, 1});
          ASSERT_TRUE(result);
          fresh += result->fresh;
          static_cast<void>(f.info());
        }
      });
  }
  EXPECT_GE(fresh, all.size());
  const event_time last{std::chrono::milliseconds(2950)};
  std::vector<verdict> out(all.size());
  EXPECT_EQ(f.may_contain_digests(all, out, {&last, 1})->seen, all.size());
}

TEST(Threads, MayCreateAndDropFiltersOfOneStore) {
  memory_store store;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = "f" + std::to_string(t);
        filter f(name, store.create(name, test::errorless(10)));
        EXPECT_EQ(f.add("key"), verdict::fresh);
        store.drop(name);
        EXPECT_EQ(f.add("key"), verdict::seen) << "a handle outlives the name";
        static_cast<void>(store.list());
      }
    });
}

}  // namespace
}  // namespace everseen
