#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/redis/judges.hpp"

namespace everseen::redis {

/// The filter `clicks`, which contains `old_`; some other clients have it open.
class Rebuilding : public JudgedBy {
 protected:
  Rebuilding() {
    EXPECT_TRUE(test::add_keys(*store_->create("clicks", sized(300, 2)), old_).result);
    writer_ = client();
    reader_ = client("clicks", access::read);
    EXPECT_EQ(outcome(test::check_keys(*writer_, old_)), "500 seen");
    EXPECT_EQ(outcome(test::check_keys(*reader_, old_)), "500 seen");
  }

  /// With the same hash for every capacity: a rebuild cannot change it.
  spec sized(std::uint64_t capacity, std::uint32_t partitions) const {
    return spec_of(
        {.capacity = capacity, .error_rate = 1e-12, .hash = hash_kind::xxh3, .partitions = partitions});
  }
  spec windowed(std::chrono::seconds length = std::chrono::minutes(1)) const {
    return spec_of({.capacity = 500, .error_rate = 1e-12, .window = window_spec{length, 3}, .partitions = 2});
  }
  std::unique_ptr<store::rebuild> begin(std::uint64_t capacity = 5'000, std::uint32_t partitions = 2) {
    return store_->begin_rebuild("clicks", sized(capacity, partitions), {});
  }
  /// The ids of filters that have keys.
  std::set<std::string> ids() const {
    std::set<std::string> all;
    for (const std::string& key : keys_of_filters()) all.insert(key.substr(10, 32));
    return all;
  }
  std::vector<std::string> index_fields() const {
    return lines_of(server_.run({"HKEYS", "everseen:{names}"}));
  }
  struct copied {
    std::vector<partition_state> states;
    std::vector<std::pair<segment_id, std::vector<std::byte>>> segments;
  };
  static copied copy_of(const stored_filter& f) {
    copied all;
    for (std::uint32_t p = 0; p < f.get_spec().partitions; ++p) {
      all.states.push_back(f.state(p));
      f.visit_segments(p, [&](const auto& id, const auto&, auto bits) {
        all.segments.emplace_back(id, std::vector<std::byte>(bits.begin(), bits.end()));
      });
    }
    return all;
  }
  void expect_no_leftovers() const {
    EXPECT_THAT(ids(), testing::SizeIs(1));
    EXPECT_THAT(index_fields(), testing::SizeIs(1));
  }

  test::random_digests source_{1};
  std::vector<digest> old_ = source_.take(500);
  std::shared_ptr<stored_filter> writer_, reader_;
};

}  // namespace everseen::redis
