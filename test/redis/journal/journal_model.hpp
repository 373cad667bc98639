#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/sibling.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/redis/exact_set.hpp"
#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {

/// Clients of the filter `clicks` whose connections fail, beside an exact set. The seed is the parameter.
class JournalModelling : public JudgedByClients, public testing::WithParamInterface<std::uint64_t> {
 protected:
  struct one {
    std::unique_ptr<test::cutting_proxy> proxy;
    std::shared_ptr<stored_filter> filter;
    exact_set::moment knew;
  };
  struct range {
    std::size_t from, count;
  };

  explicit JournalModelling(std::size_t keys) : universe_(random_.take(keys)), exact_(keys) {}

  std::uint64_t below(std::uint64_t n) { return random_.word() % n; }

  /// Every other client gives up when its connection is cut.
  one newcomer() {
    one c{std::make_unique<test::cutting_proxy>(server_.port()), nullptr, exact_.now()};
    c.filter =
        client_by(*c.proxy, below(2) == 0 ? "/?retry_for=0s&connect_timeout=20s" : "/?connect_timeout=20s");
    return c;
  }
  range some(std::size_t most) {
    const std::size_t n = 1 + below(most);
    return {below(universe_.size() - n), n};
  }
  std::span<const digest> keys(range r) const { return std::span(universe_).subspan(r.from, r.count); }

  void cut_soon(test::cutting_proxy& proxy) {
    const auto towards = below(2) == 0 ? direction::to_server : direction::to_client;
    proxy.cut_after(towards, below(towards == direction::to_server ? 200'000 : 600));
  }
  /// After this returns, no interrupted call is in flight.
  void let_the_server_read() { (void)server_.run({"PING"}); }

  void ask(one& c, range r, bool adds) {
    const auto call = exact_.begin(r.from, r.count, adds, c.knew);
    const auto began = call->began;
    const auto got = adds ? test::add_keys(*c.filter, keys(r)) : test::check_keys(*c.filter, keys(r));
    let_the_server_read();
    exact_.end(call, got.verdicts);
    // The number of keys in all partitions.
    if (!adds && got.result && r.count > 50) c.knew = began;
  }
  /// Merges a sibling with these keys.    @return whether it was done
  bool merge(one& c, range r, const spec& s) {
    memory_store memory;
    const auto sibling = memory.create("sibling", s);
    EXPECT_TRUE(test::add_keys(*sibling, keys(r)).result);
    std::vector<verdict> outcome(r.count, verdict::seen);
    try {
      c.filter->merge([&](std::uint32_t partition, const stored_filter::segments_taker& take) {
        std::vector<sibling_segment> all;
        sibling->visit_segments(partition, [&](const auto& id, const auto& layer, auto bits) {
          all.push_back({id, layer, bits});
        });
        take(all);
      });
    } catch (const error&) {
      outcome.assign(r.count, verdict::unknown);
    }
    let_the_server_read();
    exact_.note_added(r.from, outcome);
    return outcome.front() == verdict::seen;
  }
  /// @return how many keys there are
  std::size_t ask_about_all(stored_filter& filter) {
    const auto call = exact_.begin(0, universe_.size(), false, 0);
    const auto got = test::check_keys(filter, universe_);
    exact_.end(call, got.verdicts);
    return static_cast<std::size_t>(std::ranges::count(got.verdicts, verdict::seen));
  }
  /// As if the writer of a checkpoint had crashed long ago.
  void let_checkpoints_pass() {
    for (const std::string& state : keys_like(server_, "everseen:{*/?}"))
      (void)server_.run({"HDEL", state, "checkpoint"});
  }

  test::random_digests random_{GetParam()};
  const std::vector<digest> universe_;
  exact_set exact_;
};

}  // namespace everseen::redis
