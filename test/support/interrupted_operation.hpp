#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/store/port/store.hpp"

#include "test/support/cutting_proxy.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {

/// What another process does with a store, and what happens while that is interrupted.
struct interrupted_operation {
  std::function<std::shared_ptr<store>(const cutting_proxy&)> open;
  std::function<void()> prepare;
  std::function<void(store&)> run;
  std::function<void()> meanwhile;
  std::function<void(bool has_succeeded)> check;
};

/// Runs an operation again and again, and interrupts it at each place.
/// @param port       of the server
/// @param interrupt  lets a proxy do so after a number of bytes    @param step  of that number
/// @param is_interrupted, go_on  whether it has, and its end
inline void interrupt_everywhere(std::uint16_t port, const interrupted_operation& o, std::size_t step,
                                 const std::function<void(cutting_proxy&, std::size_t)>& interrupt,
                                 const std::function<bool(const cutting_proxy&)>& is_interrupted,
                                 const std::function<void(cutting_proxy&)>& go_on) {
  cutting_proxy proxy(port);
  bool is_over = false;
  for (std::size_t bytes = step; !is_over; bytes += step) {
    SCOPED_TRACE(bytes);
    o.prepare();
    interrupt(proxy, bytes);
    std::atomic<bool> has_ended = false;
    bool has_succeeded = true;
    std::thread other([&] {
      try {
        o.run(*o.open(proxy));
      } catch (const error&) {
        has_succeeded = false;
      }
      has_ended = true;
    });
    wait_until([&] { return is_interrupted(proxy) || has_ended; }, "the operation is interrupted, or over");
    is_over = has_ended;
    o.meanwhile();
    go_on(proxy);
    other.join();
    o.check(has_succeeded);
  }
}

/// Holds its requests.
inline void hold_everywhere(std::uint16_t port, const interrupted_operation& o) {
  constexpr auto to_server = cutting_proxy::direction::to_server;
  interrupt_everywhere(
      port, o, 150, [](auto& proxy, std::size_t bytes) { proxy.hold_after(to_server, bytes); },
      [](const auto& proxy) { return proxy.holds(); }, [](auto& proxy) { proxy.release(); });
}

/// Loses an answer, none of which is shorter than 4 bytes, so that the request is sent again.
inline void lose_answers_everywhere(std::uint16_t port, const interrupted_operation& o) {
  constexpr auto to_client = cutting_proxy::direction::to_client;
  interrupt_everywhere(
      port, o, 4, [](auto& proxy, std::size_t bytes) { proxy.cut_for_long_after(to_client, bytes); },
      [](const auto& proxy) { return proxy.has_cut(); }, [](auto& proxy) { proxy.refuse(false); });
}

}  // namespace everseen::test
