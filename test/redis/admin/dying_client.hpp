#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "everseen/core/base/error.hpp"

#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {

/// Lets a client work until the given number of bytes has passed in one direction, as if its process had
/// crashed then.
/// @param url  through the proxy; ends each call at the first outage
/// @return whether it finished
inline bool die_after(test::cutting_proxy& proxy, const std::string& url,
                      test::cutting_proxy::direction towards, std::size_t bytes,
                      const std::function<void(redis_store&)>& work) {
  proxy.refuse(false);
  proxy.delay(std::chrono::milliseconds(1));
  proxy.cut_after(towards, bytes);
  std::atomic<bool> over = false;
  std::thread death([&] {
    while (!over && !proxy.has_cut()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    proxy.refuse(true);
  });
  bool done = true;
  try {
    work(*store_at(url));
  } catch (const error&) {
    done = false;
  }
  over = true;
  death.join();
  return done;
}

}  // namespace everseen::redis
