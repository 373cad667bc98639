#include "everseen/server/service/exec_gate.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::server {
namespace {

/// Records who is admitted.
class ExecGate : public testing::Test {
 protected:
  bool enter(const std::string& who) {
    return gate_.enter(counter_, nullptr, [this, who] { in_ += who; });
  }
  void enter_alone(const std::string& who) {
    gate_.enter_alone(nullptr, [this, who] { in_ += who; });
  }
  exec_gate gate_;
  exec_gate::counter& counter_ = gate_.counter_of_this_thread();
  std::string in_{};
};

TEST_F(ExecGate, AdmitsManyRequestsTogether) {
  EXPECT_TRUE(enter("a"));
  EXPECT_TRUE(enter("b"));
  EXPECT_EQ(in_, "") << "requests that need not wait are not called";
}

TEST_F(ExecGate, AdmitsATransactionWhenAllHaveLeft) {
  EXPECT_TRUE(enter("a"));
  EXPECT_TRUE(enter("b"));
  enter_alone("T");
  gate_.leave(counter_);
  EXPECT_EQ(in_, "");
  gate_.leave(counter_);
  EXPECT_EQ(in_, "T");
}

TEST_F(ExecGate, AdmitsNobodyBesideATransaction) {
  enter_alone("T");
  EXPECT_EQ(in_, "T");
  EXPECT_FALSE(enter("a"));
  EXPECT_FALSE(enter("b"));
  EXPECT_EQ(in_, "T");
  gate_.leave_alone();
  EXPECT_EQ(in_, "Tab");
}

TEST_F(ExecGate, AdmitsInTheOrderOfArrival) {
  EXPECT_TRUE(enter("0"));
  enter_alone("T");
  EXPECT_FALSE(enter("a")) << "or transactions would wait indefinitely";
  enter_alone("U");
  EXPECT_FALSE(enter("b"));
  gate_.leave(counter_);
  EXPECT_EQ(in_, "T");
  gate_.leave_alone();
  EXPECT_EQ(in_, "Ta");
  gate_.leave(counter_);
  EXPECT_EQ(in_, "TaU");
  gate_.leave_alone();
  EXPECT_EQ(in_, "TaUb");
  gate_.leave(counter_);
  EXPECT_TRUE(enter("c")) << "it is open again";
}

TEST_F(ExecGate, CallsNobodyThatHasWithdrawn) {
  int one = 0, other = 0;
  enter_alone("T");
  EXPECT_FALSE(gate_.enter(counter_, &one, [&] { ++one; }));
  EXPECT_FALSE(gate_.enter(counter_, &other, [&] { ++other; }));
  gate_.withdraw(&one);
  gate_.leave_alone();
  EXPECT_EQ(one, 0);
  EXPECT_EQ(other, 1);
  gate_.leave(counter_);
  enter_alone("U");
  EXPECT_EQ(in_, "TU") << "a withdrawn request is not counted";
}

TEST_F(ExecGate, WithdrawnTransactionBlocksNobody) {
  int gone = 0;
  EXPECT_TRUE(enter("0"));
  gate_.enter_alone(&gone, [&] { ++gone; });
  EXPECT_FALSE(enter("a"));
  gate_.withdraw(&gone);
  EXPECT_EQ(in_, "a");
  EXPECT_EQ(gone, 0);
}

TEST_F(ExecGate, AdmitsAllWhenTheServerEnds) {
  EXPECT_TRUE(enter("0"));
  enter_alone("T");
  EXPECT_FALSE(enter("a"));
  enter_alone("U");
  gate_.open_for_good();
  EXPECT_EQ(in_, "TaU");
  EXPECT_TRUE(enter("b"));
  enter_alone("V");
  EXPECT_EQ(in_, "TaUV");
}

/// Two numbers that only transactions change, one after the other; others that are admitted find them equal.
TEST(ExecGateThreads, NobodySeesHalfOfATransaction) {
  exec_gate gate;
  std::atomic<int> first = 0, second = 0;
  std::atomic<int> unequal = 0, inside = 0;
  constexpr int threads = 4, rounds = 20'000;
  const auto wait_in = [&](auto enter) {
    std::mutex lock;
    std::condition_variable changed;
    bool is_in = false;
    const auto called = [&] {
      const std::scoped_lock alone(lock);
      is_in = true;
      changed.notify_one();
    };
    if (enter(called)) return;
    std::unique_lock waiting(lock);
    changed.wait(waiting, [&] { return is_in; });
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      exec_gate::counter& counter = gate.counter_of_this_thread();
      for (int i = 0; i < rounds; ++i) {
        if (t == 0 && i % 4 == 0) {
          wait_in([&](auto go) { return gate.enter_alone(&i, go), false; });
          if (inside != 0) ++unequal;
          ++first;
          ++second;
          gate.leave_alone();
        } else {
          wait_in([&](auto go) { return gate.enter(counter, &i, go); });
          ++inside;
          if (first != second) ++unequal;
          --inside;
          gate.leave(counter);
        }
      }
    });
  for (std::thread& each : all) each.join();
  EXPECT_EQ(unequal, 0);
  EXPECT_EQ(first, rounds / 4);
}

}  // namespace
}  // namespace everseen::server
