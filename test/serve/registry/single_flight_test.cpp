#include "everseen/serve/registry/single_flight.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

using namespace std::chrono_literals;

struct away : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(SingleFlight, ReturnsTheResultOfTheWork) {
  single_flight all;
  EXPECT_EQ(all.join("a", [] { return 7; }), 7);
  EXPECT_EQ(all.join("a", [] { return std::string("x"); }), "x");
}

TEST(SingleFlight, OneOutageIsRetriedOnceForAllThatWait) {
  single_flight all;
  std::atomic<int> asking = 0, tries = 0, told = 0;
  const auto ask = [&] {
    ++asking;
    try {
      all.join("a", [&]() -> int {
        ++tries;
        while (asking < 10) std::this_thread::yield();
        std::this_thread::sleep_for(50ms);  // the others now wait for the name
        throw away("gone");
      });
    } catch (const away&) {
      ++told;
    }
  };
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 10; ++i) askers.emplace_back(ask);
  }
  EXPECT_EQ(told, 10);
  EXPECT_LT(tries, 10) << "a thread that the system did not run in time may try by itself, but not all";
}

TEST(SingleFlight, CallerDuringARetryGetsTheResultOfTheLastAttempt) {
  single_flight all;
  EXPECT_THROW(all.join("a", []() -> int { throw away("first"); }), away);
  std::atomic<bool> is_trying = false, may_end = false;
  const std::jthread again([&] {
    all.join("a", [&] {
      is_trying = true;
      while (!may_end) std::this_thread::yield();
      return 1;
    });
  });
  while (!is_trying) std::this_thread::yield();
  EXPECT_THROW(all.join("a", [] { return 1; }), away);
  may_end = true;
}

TEST(SingleFlight, ForgetsAFaultAfterTheNextSuccess) {
  single_flight all;
  EXPECT_THROW(all.join("a", []() -> int { throw away("first"); }), away);
  EXPECT_EQ(all.join("a", [] { return 1; }), 1);
  std::atomic<bool> is_trying = false;
  const std::jthread other([&] {
    all.join("a", [&] {
      is_trying = true;
      std::this_thread::sleep_for(100ms);
      return 1;
    });
  });
  while (!is_trying) std::this_thread::yield();
  EXPECT_EQ(all.join("a", [] { return 2; }), 2);
}

}  // namespace
}  // namespace everseen::serve
