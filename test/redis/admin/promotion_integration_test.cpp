// Filters whose bits are on their way while a replica is promoted that has not received all of them.

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"
#include "everseen/store/port/filter_stream.hpp"

#include "test/redis/judges.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using direction = cutting_proxy::direction;

class PromotionMeanwhile : public JudgedBy {
 protected:
  PromotionMeanwhile() : JudgedBy({"--repl-diskless-sync-delay", "0"}) {
    EXPECT_TRUE(add_keys(full_.stored(), keys_).result);
    test::wait_until([&] { return replica_.run({"ROLE"}).find("connected") != std::string::npos; },
                     "the replica is in step");
  }

  /// Promotes the replica after the server has received a part of the bits; then the server receives another
  /// part, and is gone.
  void promoted_during(const std::function<void(redis_store&)>& operation) {
    constexpr std::size_t part = 400'000;
    cutting_proxy proxy(server_.port());
    const auto far = store_at(proxy.url("/?timeout=20s"));
    proxy.hold_after(direction::to_server, part);
    auto done = std::async(std::launch::async, [&] { operation(*far); });
    wait_until_held(proxy);
    (void)server_.run({"SET", "beat", "1"});
    test::wait_until([&] { return replica_.run({"GET", "beat"}) == "1"; }, "the replica is in step");
    (void)replica_.run({"REPLICAOF", "NO", "ONE"});
    proxy.hold_after(direction::to_server, part);
    wait_until_held(proxy);
    proxy.lead_to(replica_.port());
    server_.kill();
    proxy.release();
    done.get();
  }
  static void wait_until_held(const cutting_proxy& proxy) {
    test::wait_until([&] { return proxy.holds(); }, "the proxy holds bytes back");
  }
  std::string after_the_promotion(const std::string& name) const {
    return outcome(check_keys(*store_at(replica_.url())->open(name, access::read), keys_));
  }

  random_digests source_{5};
  const std::vector<digest> keys_ = source_.take(200'000);
  const spec spec_ = [&] {
    spec s = spec_of({.capacity = 200'000, .error_rate = 1e-9, .partitions = 1});
    s.seed = hash_seed{1, 2, 3};
    return s;
  }();
  memory_store memory_;
  filter full_{"full", memory_.create("full", spec_)};
  const test::redis_server replica_ = [&] {
    test::redis_server::options o;
    o.config = with_judge({"--replicaof", "127.0.0.1", std::to_string(server_.port())});
    return test::redis_server(o);
  }();
};

INSTANTIATE_TEST_SUITE_P(Judged, PromotionMeanwhile, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

// Promise: an import during a failover lacks nothing, or fails (redis, Replicas).
TEST_P(PromotionMeanwhile, ImportLacksNothing) {
  std::string bytes;
  write_stream(full_.stored(), "full", [&](std::span<const std::byte> some) {
    bytes.append(reinterpret_cast<const char*>(some.data()), some.size());
  });
  promoted_during([&](redis_store& into) {
    std::string_view left = bytes;
    read_stream(into, "clicks", [&](std::span<std::byte> out) {
      const std::size_t n = left.copy(reinterpret_cast<char*>(out.data()), out.size());
      left.remove_prefix(n);
      return n;
    });
  });
  EXPECT_EQ(after_the_promotion("clicks"), "200000 seen");
}

TEST_P(PromotionMeanwhile, RebuildWithABaseLacksNothing) {
  (void)store_->create("clicks", spec_);
  promoted_during([&](redis_store& in) {
    const std::vector<partition_state> base = {full_.stored().state(0)};
    const auto rebuild = in.begin_rebuild("clicks", spec_, base);
    full_.stored().visit_segments(
        0, [&](const segment_id& id, const auto&, auto bits) { rebuild->merge(id, bits); });
    rebuild->commit();
  });
  EXPECT_EQ(after_the_promotion("clicks"), "200000 seen");
}

TEST_P(PromotionMeanwhile, MergeLacksNothing) {
  (void)store_->create("clicks", spec_);
  promoted_during([&](redis_store& in) {
    filter clicks = open(in, "clicks");
    clicks.merge(std::span(&full_, 1));
  });
  EXPECT_EQ(after_the_promotion("clicks"), "200000 seen");
}

TEST_P(PromotionMeanwhile, LeavesNothingButTheFilter) {
  (void)store_->create("clicks", spec_);
  promoted_during([&](redis_store& in) {
    filter clicks = open(in, "clicks");
    clicks.merge(std::span(&full_, 1));
  });
  EXPECT_THAT(keys_like(replica_, "everseen:{*/*}:s*"), testing::IsEmpty());
}

}  // namespace
}  // namespace everseen::redis
