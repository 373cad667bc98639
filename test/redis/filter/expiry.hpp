#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "everseen/redis/keyspace/filter_header.hpp"

#include "test/redis/judges.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis {

inline constexpr std::int64_t a_day = std::chrono::milliseconds(std::chrono::hours(24)).count();

inline event_time now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

/// Filters, and the time limits of their keys.
class Life : public JudgedBy {
 protected:
  Life() : JudgedBy(test::with_aof()) {}

  spec sized(std::uint64_t capacity = 200, std::uint32_t partitions = 2) const {
    return spec_of({.capacity = capacity, .error_rate = 1e-9, .partitions = partitions});
  }
  /// The keys of filters, except headers.
  std::vector<std::string> expiring_keys(const test::redis_server& on) const {
    auto keys = keys_of_filters(on);
    std::erase_if(keys, [&](const std::string& key) { return on.run({"HEXISTS", key, "spec"}) == "1"; });
    return keys;
  }
  /// Until when each of them lives, in ms since 1970; -1: indefinitely. A limit copied from another key may
  /// be slightly sooner or later.
  std::set<std::int64_t> limits(const test::redis_server& on) const {
    std::set<std::int64_t> all;
    for (const std::string& key : expiring_keys(on)) all.insert(std::stoll(on.run({"PEXPIRETIME", key})));
    return all;
  }
  std::set<std::int64_t> limits() const { return limits(server_); }
  /// For how many ms each of them lives on.
  std::vector<std::int64_t> lives() const {
    std::vector<std::int64_t> all;
    for (const std::string& key : expiring_keys(server_))
      all.push_back(std::stoll(server_.run({"PTTL", key})));
    return all;
  }
  void wait_for_the_end() const {
    test::wait_until([&] { return store_->list().empty(); }, "the filters end");
  }

  std::vector<digest> keys_ = test::random_digests(1).take(1'000);
};

inline auto is_a_day_after(event_time end) {
  const std::int64_t limit = (end + later_than_the_end).time_since_epoch().count();
  return testing::AllOf(testing::Ge(limit - 1'000), testing::Le(limit + 1'000));
}

}  // namespace everseen::redis
