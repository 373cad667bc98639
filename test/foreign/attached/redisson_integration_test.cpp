// Filters of Redisson: it keeps their sizes in a hash, and everseen follows that hash in every call.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/slot_map.hpp"

#include "test/foreign/attached/attached.hpp"
#include "test/foreign/vectors.hpp"

namespace everseen::foreign {
namespace {

using test::redis_cluster;
using test::redis_server;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The fields that tryInit() of Redisson writes.
void try_init(const redis_server& server, const std::string& config, const std::string& size,
              const std::string& probes) {
  server.run({"HSET", config, "size", size, "hashIterations", probes, "expectedInsertions", "1000",
              "falseProbability", "0.01"});
}

attachment redisson_at(const std::string& key) {
  attachment a{{family::redisson, 0, 0}};
  a.key = key;
  return a;
}

/// By the commands that judge keys.
class Redisson : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::shared_ptr<redis_store> store() const {
    return store_at(server_.url("?commands=" + GetParam()));
  }
  [[nodiscard]] std::string string_at(const std::string& key) const { return server_.run({"GET", key}); }

  redis_server server_;
};

// Promise: the sizes of a filter of Redisson are those of its hash (foreign-filters, Attached filters).
TEST_P(Redisson, SizesAreThoseOfItsHash) {
  try_init(server_, "{mails}:config", "9585", "7");
  filter f = attached(*store(), "a", redisson_at("mails"), missing_key::refuse);
  EXPECT_EQ(behind(f).what().hashing, (scheme{family::redisson, 9585, 7}));
  EXPECT_EQ(f.add("one"), verdict::fresh);
  EXPECT_EQ(f.add("one"), verdict::seen);
  EXPECT_TRUE(is_known_to_original(server_, behind(f).what(), "one"));
}

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_P(Redisson, HasTheBitsThatRedissonSets) {
  try_init(server_, "{mails}:config", "9585058", "7");
  filter f = attached(*store(), "a", redisson_at("mails"));
  naive_string expected;
  const auto rows = test::vectors("redisson")["rows"];
  ASSERT_EQ(rows.size(), 160U);
  for (const auto& row : rows) {
    const auto bytes = test::from_base64(row["key_base64"].get<std::string>());
    if (bytes.empty()) continue;
    f.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    for (const std::uint64_t p : row["indexes"]["9585058x7"]) expected.set(p);
  }
  EXPECT_TRUE(string_at("mails") == expected.bytes());
}

TEST_P(Redisson, NameWithABraceHasItsHashAfterTheName) {
  try_init(server_, "{users}mails:config", "9585", "7");
  filter f = attached(*store(), "a", redisson_at("{users}mails"));
  EXPECT_EQ(f.add("one"), verdict::fresh);
}

TEST_P(Redisson, BothProgramsSeeTheKeysOfTheOther) {
  try_init(server_, "{mails}:config", "95850", "7");
  filter f = attached(*store(), "a", redisson_at("mails"));
  add_as_original(server_, behind(f).what(), "theirs");
  EXPECT_THAT(add_to(f, {"theirs", "ours", "ours"}).verdicts,
              ElementsAre(verdict::seen, verdict::fresh, verdict::seen));
  EXPECT_THAT(look_in(f, {"theirs", "ours", "nobody's"}).verdicts,
              ElementsAre(verdict::seen, verdict::seen, verdict::fresh));
  EXPECT_TRUE(is_known_to_original(server_, behind(f).what(), "ours"));
}

// Promise: sizes of a filter of Redisson that changed are an error (foreign-filters, Attached filters).
TEST_P(Redisson, FilterRecreatedWithOtherSizesIsRefusedEverywhereAndItsBitsStay) {
  try_init(server_, "{mails}:config", "9585", "7");
  filter f = attached(*store(), "a", redisson_at("mails"));
  f.add("one");
  server_.run({"DEL", "mails", "{mails}:config"});
  try_init(server_, "{mails}:config", "14377", "10");
  const auto changed =
      AllOf(HasSubstr("{mails}:config says size 14377 and hashIterations 10"), HasSubstr("attach it again"));
  const auto added = add_to(f, {"two"});
  ASSERT_FALSE(added.result);
  EXPECT_EQ(added.result.error().why, batch_failure::cause::format);
  EXPECT_THAT(added.result.error().message, changed);
  EXPECT_THAT(added.verdicts, Each(verdict::unknown));
  const auto looked = look_in(f, {"one"});
  ASSERT_FALSE(looked.result);
  EXPECT_THAT(looked.result.error().message, changed);
  EXPECT_THAT(message_of<format_error>([&] { (void)behind(f).survey(); }), changed);
  EXPECT_THAT(message_of<format_error>([&] { (void)behind(f).foreign_bits_of("one"); }), changed);
  EXPECT_EQ(server_.run({"EXISTS", "mails"}), "0") << "a bit was set";
}

TEST_P(Redisson, DeletedFilterIsRefused) {
  try_init(server_, "{mails}:config", "9585", "7");
  filter f = attached(*store(), "a", redisson_at("mails"));
  f.add("one");
  server_.run({"DEL", "mails", "{mails}:config"});
  EXPECT_THAT(add_to(f, {"one"}).result.error().message,
              HasSubstr("the hash {mails}:config, which has the sizes"));
  server_.run({"SET", "{mails}:config", "no hash"});
  EXPECT_FALSE(add_to(f, {"one"}).result);
  EXPECT_FALSE(look_in(f, {"one"}).result);
  EXPECT_EQ(server_.run({"EXISTS", "mails"}), "0");
}

INSTANTIATE_TEST_SUITE_P(CommandSets, Redisson, ::testing::Values("script", "bitfield"),
                         [](const auto& one) { return one.param; });

class RedissonAttaching : public ::testing::Test {
 protected:
  [[nodiscard]] std::string refusal(const attachment& a) const {
    return message_of<parameter_error>(
        [&] { attach(store_at(server_.url())->servers(), "a", a, missing_key::create); });
  }
  redis_server server_;
};

TEST_F(RedissonAttaching, FilterWithoutItsHashIsRefused) {
  server_.run({"SETBIT", "mails", "5", "1"});
  EXPECT_THAT(refusal(redisson_at("mails")), HasSubstr("there is no hash {mails}:config"));
}

TEST_F(RedissonAttaching, ForeignHashIsRefused) {
  server_.run({"SET", "{mails}:config", "text"});
  EXPECT_THAT(refusal(redisson_at("mails")), HasSubstr("{mails}:config is not a hash"));
  server_.run({"DEL", "{mails}:config"});
  try_init(server_, "{mails}:config", "many", "7");
  EXPECT_THAT(refusal(redisson_at("mails")), HasSubstr("says size 'many'"));
  try_init(server_, "{mails}:config", "9585", "65");
  EXPECT_THAT(refusal(redisson_at("mails")), HasSubstr("1 to 64 hashIterations"));
  try_init(server_, "{mails}:config", "4294967295", "7");
  EXPECT_THAT(refusal(redisson_at("mails")), HasSubstr("at most 4294967294 bits"));
}

TEST_F(RedissonAttaching, SizesThatTheUserGivesAreComparedWithTheHash) {
  try_init(server_, "{mails}:config", "9585", "7");
  attachment a = redisson_at("mails");
  a.hashing = {family::redisson, 9586, 7};
  EXPECT_THAT(refusal(a), HasSubstr("says 9585 7 bits and probes and not 9586 7"));
  a.hashing = {family::redisson, 9585, 7};
  EXPECT_EQ(refusal(a), "");
}

TEST_F(RedissonAttaching, OtherFormsAreRefused) {
  try_init(server_, "{mails}:config", "9585", "7");
  attachment a = redisson_at("mails");
  a.funnel = funnel_kind::int64;
  EXPECT_THAT(refusal(a), HasSubstr("--funnel"));
}

// Promise: the sizes of Redisson are compared in the request that judges (foreign-filters, Attached filters).
TEST_F(RedissonAttaching, HashIsReadInTheCallThatJudges) {
  try_init(server_, "{mails}:config", "9585", "7");
  filter f = attached(*store_at(server_.url()), "a", redisson_at("mails"));
  f.add("one");
  server_.run({"CONFIG", "RESETSTAT"});
  f.add("two");
  const std::string stats = server_.run({"INFO", "commandstats"});
  EXPECT_THAT(stats, HasSubstr("cmdstat_evalsha:calls=1,"));
  EXPECT_THAT(stats, HasSubstr("cmdstat_hmget:calls=1,"));
}

TEST_F(RedissonAttaching, InAClusterAFilterWithItsHashElsewhereIsRefused) {
  redis_cluster cluster;
  const auto in = store_at(cluster.url());
  EXPECT_THAT(message_of<parameter_error>(
                  [&] { attach(in->servers(), "a", redisson_at("open{"), missing_key::create); }),
              HasSubstr("must lie in one slot"));
  for (const std::string key : {"mails", "{users}mails"}) {
    const auto& owner = cluster.node(redis::slot_of(key) * redis_cluster::masters / redis_cluster::slots);
    try_init(owner, key == "mails" ? "{mails}:config" : "{users}mails:config", "9585", "7");
    filter f = attached(*in, key == "mails" ? "a" : "b", redisson_at(key));
    EXPECT_THAT(add_to(f, {"one", "one"}).verdicts, ElementsAre(verdict::fresh, verdict::seen));
  }
}

}  // namespace
}  // namespace everseen::foreign
