#include "everseen/serve/registry/single_flight.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

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

/// Ten callers that change the same name; the first one fails when the others wait for the name.
/// @return how many of them tried
template <typename Failure>
int tries_of_ten(Failure fail) {
  single_flight all;
  std::atomic<int> asking = 0, tries = 0, failed = 0;
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 10; ++i)
      askers.emplace_back([&] {
        ++asking;
        try {
          all.change("a", [&] {
            ++tries;
            while (asking < 10) std::this_thread::yield();
            std::this_thread::sleep_for(50ms);
            fail();
          });
        } catch (const std::exception&) {
          ++failed;
        }
      });
  }
  EXPECT_EQ(failed, 10);
  return tries;
}

TEST(SingleFlight, ChangesThatWaitShareAnOutage) {
  EXPECT_LT(tries_of_ten([] { throw backend_error("no answer"); }), 10);
}

TEST(SingleFlight, ChangesThatWaitDoNotShareARefusal) {
  EXPECT_EQ(tries_of_ten([] { throw name_taken("item exists"); }), 10);
}

TEST(SingleFlight, ChangeIsNotRefusedForTheDamageThatAnotherCallerHasFound) {
  single_flight all;
  std::atomic<bool> is_opening = false, is_waiting = false;
  const std::jthread opens([&] {
    EXPECT_THROW(all.join("a",
                          [&]() -> int {
                            is_opening = true;
                            while (!is_waiting) std::this_thread::yield();
                            std::this_thread::sleep_for(50ms);
                            throw format_error("damaged");
                          }),
                 format_error);
  });
  while (!is_opening) std::this_thread::yield();
  is_waiting = true;
  EXPECT_EQ(all.change("a", [] { return 1; }), 1);
}

TEST(SingleFlight, ChangesOfTwoNamesAreMadeInEitherOrder) {
  single_flight all;
  int made = 0;
  const auto change = [&](const char* one, const char* other) {
    for (int i = 0; i < 1000; ++i) all.change(one, other, [&] { ++made; });
  };
  {
    const std::jthread forth([&] { change("a", "b"); });
    const std::jthread back([&] { change("b", "a"); });
    change("a", "a");
  }
  EXPECT_EQ(made, 3000);
}

}  // namespace
}  // namespace everseen::serve
