#include "everseen/serve/base/worker_pool.hpp"

#include <future>
#include <memory>
#include <new>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

TEST(WorkerPool, AcceptsMoreWorkWhileFinishedWorkIsReleased) {
  std::promise<void> let_go, taken;
  bool was_taken = false;
  {
    worker_pool pool(1);
    const auto wait_for_more = [&](const int* held) {
      delete held;
      let_go.set_value();
      was_taken = taken.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready;
    };
    std::shared_ptr<const int> held(new int(1), wait_for_more);
    pool.submit([held = std::move(held)] { EXPECT_EQ(*held, 1); });
    let_go.get_future().wait();
    pool.submit([] {});
    taken.set_value();
  }
  EXPECT_TRUE(was_taken) << "the pool was locked";
}

TEST(WorkerPoolDeathTest, EndsTheProcessWhenMemoryRunsOutSoThatNobodyWaitsIndefinitely) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        worker_pool pool(1);
        pool.submit([] { throw std::bad_alloc(); });
      },
      "bad_alloc");
}

}  // namespace
}  // namespace everseen::serve
