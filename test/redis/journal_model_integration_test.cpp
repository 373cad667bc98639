// Any order of what clients of one filter do, with answers that are lost, refusals, checkpoints and
// newcomers, is one exact set.

#include <set>

#include <gtest/gtest.h>

#include "everseen/core/error.hpp"

#include "test/redis/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;

/// What must be in a filter, and what may be: keys of calls that were not answered.
class exact_keys {
 public:
  void expect(const digest& key, verdict v, bool adds) {
    const auto k = std::pair(key.low, key.high);
    if (v == verdict::unknown) {
      if (adds && !held_.contains(k)) unsure_.insert(k);
      return;
    }
    if (unsure_.contains(k)) {
      // What is not there now may still be under way, unless this call has added it.
      if (v == verdict::seen || adds) unsure_.erase(k), held_.insert(k);
      return;
    }
    EXPECT_EQ(v, held_.contains(k) ? verdict::seen : verdict::fresh);
    if (adds) held_.insert(k);
  }
  [[nodiscard]] const auto& held() const noexcept { return held_; }
  [[nodiscard]] const auto& unsure() const noexcept { return unsure_; }

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> held_, unsure_;
};

class JournalModel : public JudgedByClients, public testing::WithParamInterface<std::uint64_t> {
 protected:
  struct one {
    std::unique_ptr<cutting_proxy> proxy;
    std::shared_ptr<stored_filter> filter;
  };
  one newcomer() {
    one c{std::make_unique<cutting_proxy>(server_.port()), nullptr};
    // Every other one gives up when its connection is cut.
    c.filter = client_by(*c.proxy, random_.word() % 2 == 0 ? "/?retry_for=0s&connect_timeout=20s"
                                                           : "/?retry_for=20s&connect_timeout=20s");
    return c;
  }
  std::vector<digest> some(const std::vector<digest>& universe, std::size_t most) {
    std::vector<digest> keys;
    const std::size_t n = 1 + random_.word() % most;
    const std::size_t from = random_.word() % (universe.size() - n);
    for (std::size_t i = 0; i < n; ++i) keys.push_back(universe[from + i]);
    return keys;
  }
  /// As if whoever writes a checkpoint had died long ago.
  void let_checkpoints_pass() {
    for (const std::string& state : keys_like(server_, "everseen:{*/?}"))
      (void)server_.run({"HDEL", state, "checkpoint"});
  }
  random_digests random_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Seeds, JournalModel, testing::Range<std::uint64_t>(1, 7));

TEST_P(JournalModel, AnyOrderOfWhatClientsDoIsOneExactSet) {
  (void)make({.capacity = 5000, .error_rate = 1e-12, .partitions = 2});
  const auto universe = random_.take(150'000);
  exact_keys exact;
  std::vector<one> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(newcomer());
  for (int step = 0; step < 80 && !HasFailure(); ++step) {
    one& c = clients[random_.word() % clients.size()];
    const std::uint64_t what = random_.word() % 16;
    if (what == 0) {
      c = newcomer();
      continue;
    }
    if (what == 1) let_checkpoints_pass();
    if (what < 8) {
      const auto way = random_.word() % 2 == 0 ? direction::to_server : direction::to_client;
      c.proxy->cut_after(way, random_.word() % (way == direction::to_server ? 200'000 : 600));
    }
    const bool adds = what % 4 != 3;
    const auto keys = some(universe, what == 5 ? 70'000 : 4000);
    const auto got = adds ? add_keys(*c.filter, keys) : check_keys(*c.filter, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) exact.expect(keys[i], got.verdicts[i], adds);
  }
  const auto last = client();
  const auto got = check_keys(*last, universe);
  for (std::size_t i = 0; i < universe.size(); ++i) exact.expect(universe[i], got.verdicts[i], false);
  EXPECT_EQ(test::keys_in(*last), exact.held().size());
}

}  // namespace
}  // namespace everseen::redis
