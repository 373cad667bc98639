#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/redis_store.hpp"

#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::redis {

/// What another process does with a store, and what happens while its requests are held.
struct held_operation {
  std::function<void()> prepare;
  std::function<void(redis_store&)> run;
  std::function<void()> meanwhile;
  std::function<void(bool has_succeeded)> check;
};

/// Runs an operation again and again, and holds it at each place on its way to the server.
inline void hold_everywhere(const test::redis_server& server, const held_operation& held) {
  test::cutting_proxy proxy(server.port());
  bool is_over = false;
  for (std::size_t bytes = 100; !is_over; bytes += 150) {
    SCOPED_TRACE(bytes);
    held.prepare();
    proxy.hold_after(test::cutting_proxy::direction::to_server, bytes);
    std::atomic<bool> has_ended = false;
    bool has_succeeded = true;
    std::thread other([&] {
      try {
        held.run(*store_at(proxy.url()));
      } catch (const error&) {
        has_succeeded = false;
      }
      has_ended = true;
    });
    test::wait_until([&] { return proxy.holds() || has_ended; }, "the operation is held, or over");
    is_over = has_ended;
    held.meanwhile();
    proxy.release();
    other.join();
    held.check(has_succeeded);
  }
}

}  // namespace everseen::redis
