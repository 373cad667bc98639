// Filters under keys of the module, which clients of Redis use by BF.* and everseen by a name.

#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/redis/wire/slot_map.hpp"

#include "test/support/redis_server.hpp"
#include "test/support/thrown_message.hpp"

namespace everseen::foreign {
namespace {

using redis::parse_redis_url;
using redis::redis_store;
using redis::slot_of;
using test::message_of;
using testing::AllOf;
using testing::HasSubstr;

class AttachedValue : public testing::Test {
 protected:
  [[nodiscard]] filter attached(const std::string& name, const std::string& key) {
    attach_value(store_.servers(), name, key);
    return opened(name);
  }
  [[nodiscard]] filter opened(const std::string& name) { return {name, store_.open(name, access::write)}; }

  const test::redis_server server_{test::with_module()};
  redis_store store_{parse_redis_url(server_.url()), open_attached};
};

TEST_F(AttachedValue, IsSharedWithClientsThatSendItsCommands) {
  server_.run({"BF.RESERVE", "visits", "1e-9", "1000"});
  server_.run({"BF.ADD", "visits", "alice"});
  filter visits = attached("v", "visits");
  EXPECT_EQ(visits.add("alice"), verdict::seen);
  EXPECT_EQ(visits.add("bob"), verdict::fresh);
  EXPECT_EQ(server_.run({"BF.EXISTS", "visits", "bob"}), "1");
  EXPECT_EQ(visits.info().keys, 2U);
  EXPECT_EQ(visits.get_spec().capacity, 1000U);
}

// An exact set beside it: each key is fresh once, no matter which side adds it, also through growth.
TEST_F(AttachedValue, EachKeyIsFreshOnceBetweenBothSides) {
  for (const std::vector<std::string>& layout : {std::vector<std::string>{}, {"LAYOUT", "redisbloom"}}) {
    std::vector<std::string> config = test::with_module();
    config.insert(config.end(), layout.begin(), layout.end());
    const test::redis_server server(config);
    redis_store store(parse_redis_url(server.url()), open_attached);
    server.run({"BF.RESERVE", "k", "1e-9", "100"});
    attach_value(store.servers(), "f", "k");
    filter f("f", store.open("f", access::write));
    std::set<std::string> exact;
    std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): reproducible
    for (int i = 0; i < 2000; ++i) {
      const std::string key = "k" + std::to_string(random() % 1500);
      const bool is_new = exact.insert(key).second;
      const bool was_fresh =
          random() % 2 == 0 ? f.add(key) == verdict::fresh : server.run({"BF.ADD", "k", key}) == "1";
      ASSERT_EQ(was_fresh, is_new) << key << " at " << i;
    }
    EXPECT_EQ(f.info().keys, exact.size());
    EXPECT_GT(f.info().max_layers, 1U) << "it has grown";
  }
}

TEST_F(AttachedValue, HasTheWindowOfItsKey) {
  server_.run({"EVERSEEN.RESERVE", "w", "1e-9", "100", "WINDOW", "600000", "SLICES", "10"});
  filter w = attached("w", "w");
  ASSERT_TRUE(w.get_spec().window);
  EXPECT_EQ(w.add("a", wall_clock()), verdict::fresh);
  EXPECT_EQ(w.add("a", wall_clock()), verdict::seen);
}

TEST_F(AttachedValue, AnotherFilterUnderItsKeyIsAnErrorUntilItIsAttachedAgain) {
  server_.run({"BF.RESERVE", "k", "0.01", "100"});
  (void)attached("f", "k");
  filter open = opened("f");
  EXPECT_EQ(open.add("a"), verdict::fresh);
  server_.run({"DEL", "k"});
  server_.run({"BF.RESERVE", "k", "0.0001", "500"});
  EXPECT_THAT(message_of<storage_error>([&] { (void)open.add("b"); }),
              HasSubstr("another filter is at the key k"));
  EXPECT_THAT(message_of<storage_error>([&] { (void)open.may_contain("a"); }),
              HasSubstr("another filter is at the key k"));
  EXPECT_EQ(server_.run({"BF.CARD", "k"}), "0") << "no key under the seed of the filter before";
  server_.run({"DEL", "k"});
  EXPECT_THAT(message_of<storage_error>([&] { (void)opened("f").add("a"); }), HasSubstr("k is not there"));
  server_.run({"BF.RESERVE", "k", "0.01", "100"});
  EXPECT_THAT(message_of<storage_error>([&] { (void)opened("f").add("a"); }),
              AllOf(HasSubstr("another filter is at the key k"), HasSubstr("attach it again")));
  store_.drop("f");
  EXPECT_EQ(attached("f", "k").add("a"), verdict::fresh);
}

TEST_F(AttachedValue, BelongsToItsUsers) {
  server_.run({"BF.ADD", "k", "a"});
  filter f = attached("f", "k");
  EXPECT_THAT(message_of<parameter_error>([&] { store_.reset("f"); }), HasSubstr("another program's"));
  EXPECT_THAT(message_of<parameter_error>([&] { store_.expire_at("f", event_time{}); }),
              HasSubstr("another program's"));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)f.stored().open_ledger("job", "of a test"); }),
              HasSubstr("everseen create"));
  store_.rename("f", "g", filter_admin::namesake::refuse);
  store_.drop("g");
  EXPECT_EQ(server_.run({"BF.EXISTS", "k", "a"}), "1");
}

TEST_F(AttachedValue, IsNothingElse) {
  server_.run({"SET", "s", "text"});
  const auto refusal = [&](const std::string& key) {
    return message_of<error>([&] { attach_value(store_.servers(), "x", key); });
  };
  EXPECT_THAT(refusal("none"), HasSubstr("there is no key none"));
  EXPECT_THAT(refusal("s"), HasSubstr("has another type"));
  filter own("own",
             store_.create("own", store_.plan({.capacity = 10'000'000, .judge = judge_kind::server}), {}));
  (void)own.add("a");
  const std::string part = server_.run({"KEYS", "everseen:{*/0}"});
  EXPECT_THAT(refusal(part), HasSubstr("belongs to a filter of everseen"));
  EXPECT_THAT(refusal(""), HasSubstr("must not be empty"));
  EXPECT_FALSE(store_.exists("x"));

  const test::redis_server plain;
  redis_store without(parse_redis_url(plain.url()));
  EXPECT_THAT(message_of<parameter_error>([&] { attach_value(without.servers(), "x", "k"); }),
              HasSubstr("module"));
}

TEST_F(AttachedValue, OfAClusterNeedsAHashTag) {
  test::redis_cluster cluster(test::redis_cluster::replicas::none, test::with_module());
  redis_store store(parse_redis_url(cluster.url()), open_attached);
  EXPECT_THAT(message_of<parameter_error>([&] { attach_value(store.servers(), "f", "k"); }),
              HasSubstr("hash tag, as in {k}"));
  ASSERT_EQ(cluster.owner(slot_of("{k}")).run({"BF.ADD", "{k}", "a"}), "1");
  attach_value(store.servers(), "f", "{k}");
  filter f("f", store.open("f", access::write));
  EXPECT_EQ(f.add("a"), verdict::seen);
  EXPECT_EQ(f.add("b"), verdict::fresh);
}

}  // namespace
}  // namespace everseen::foreign
