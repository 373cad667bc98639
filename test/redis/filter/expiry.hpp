#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/redis/judges.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {

inline event_time now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

/// Filters that expire.
class Life : public JudgedBy {
 protected:
  Life() : JudgedBy(test::with_aof()) {}

  spec sized(std::uint64_t capacity = 200, std::uint32_t partitions = 2) const {
    return spec_of({.capacity = capacity, .error_rate = 1e-9, .partitions = partitions});
  }
  /// Those of their keys that Redis would remove by itself.
  std::vector<std::string> keys_with_a_limit() const {
    auto keys = keys_of_filters();
    std::erase_if(keys, [&](const std::string& key) { return server_.run({"PTTL", key}) == "-1"; });
    return keys;
  }
  void let_expire(const std::string& name) const { redis::let_expire(server_, name); }
  void wait_for_the_end() const {
    test::wait_until([&] { return store_->list().empty(); }, "the filters end");
  }

  std::vector<digest> keys_ = test::random_digests(1).take(1'000);
};

}  // namespace everseen::redis
