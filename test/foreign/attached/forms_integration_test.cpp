// Attached filters of more than one string, and in a cluster.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/foreign/guava/guava.hpp"
#include "everseen/redis/wire/slot_map.hpp"

#include "test/foreign/attached/attached.hpp"
#include "test/support/model/guava_filter.hpp"

namespace everseen::foreign {
namespace {

using test::redis_cluster;
using test::redis_server;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Growing : public ::testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<redis_store> store() const { return store_at(server_.url()); }
  redis_server server_;
};

TEST_F(Growing, GrowsWhereMoreThanHalfOfTheBitsAreSet) {
  const attachment a = growing("base", 6'400, 5);
  filter f = attached(*store(), "a", a);
  naive_chain model(a);
  for (int batch = 0; batch < 8; ++batch) {
    std::vector<std::string> keys = random_keys(611, static_cast<std::uint64_t>(batch % 6));
    keys.insert(keys.end(), keys.begin(), keys.begin() + 50);
    const auto got = add_to(f, keys);
    ASSERT_TRUE(got.result) << got.result.error().message;
    std::vector<verdict> expected;
    for (const std::string& key : keys) expected.push_back(model.add(key));
    ASSERT_EQ(got.verdicts, expected) << batch;
    EXPECT_THAT(look_in(f, keys).verdicts, Each(verdict::seen));
  }
  ASSERT_GE(model.newest(), 3u);
  EXPECT_EQ(server_.run({"GET", "cursor"}), std::to_string(model.newest()));
  for (std::size_t i = 0; i <= model.newest(); ++i) {
    const std::string key = "base-" + std::to_string(i);
    EXPECT_EQ(server_.run({"BITCOUNT", key}), std::to_string(model.bits_of(i))) << key;
  }
  EXPECT_EQ(server_.run({"STRLEN", "base-1"}), "800");
  EXPECT_EQ(f.info().max_layers, model.newest() + 1);
}

// According to the publication: at 0.0005, ten thousand strings grow it once, three times as many three
// times.
TEST_F(Growing, GrowsAsOftenAsPublished) {
  const auto shape = guava::smallest(guava::strategy::mitz_64, 10'000, 0.0005);
  filter f = attached(*store(), "a", growing("base", shape.bits(), shape.probes));
  (void)add_to(f, random_keys(10'500, 1));
  EXPECT_EQ(server_.run({"GET", "cursor"}), "1");
  (void)add_to(f, random_keys(20'500, 2));
  EXPECT_EQ(server_.run({"GET", "cursor"}), "3");
}

TEST_F(Growing, FollowsACursorThatTheOtherProgramMoves) {
  const attachment a = growing("base", 6'400, 5);
  filter f = attached(*store(), "a", a);
  f.add("one");
  server_.run({"INCR", "cursor"});
  server_.run({"SETBIT", "base-1", "6399", "0"});
  EXPECT_TRUE(f.may_contain("one"));
  EXPECT_EQ(f.add("one"), verdict::seen);
  EXPECT_EQ(f.add("two"), verdict::fresh);
  EXPECT_EQ(server_.run({"BITCOUNT", "base-0"}), "5");
  EXPECT_EQ(server_.run({"BITCOUNT", "base-1"}), "5");
  server_.run({"DEL", "cursor", "base-0", "base-1"});  // its program starts over
  EXPECT_FALSE(f.may_contain("one"));
  EXPECT_EQ(f.add("one"), verdict::fresh);
  EXPECT_EQ(server_.run({"BITCOUNT", "base-0"}), "5");
}

// Promise: of many clients that grow a filter exactly one gets fresh for each key (foreign-filters, Attached
// filters).
TEST_F(Growing, OfManyClientsThatGrowItOneGetsFreshForEachKey) {
  const attachment a = growing("base", 64 * 1'000, 8);
  attach(store()->servers(), "a", a, missing_key::create);
  const std::vector<std::string> keys = random_keys(12'000, 5);
  std::vector<std::atomic<int>> fresh(keys.size());
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < 4; ++c)
      clients.emplace_back([&] {
        filter f("a", store()->open("a", access::write));
        for (std::size_t from = 0; from < keys.size(); from += 300) {
          const std::vector<std::string> some(keys.begin() + static_cast<std::ptrdiff_t>(from),
                                              keys.begin() + static_cast<std::ptrdiff_t>(from) + 300);
          const auto got = add_to(f, some);
          ASSERT_TRUE(got.result) << got.result.error().message;
          for (std::size_t i = 0; i < some.size(); ++i)
            fresh[from + i] += got.verdicts[i] == verdict::fresh ? 1 : 0;
        }
      });
  }
  std::size_t wrong = 0;  // the filter's own false positives: at half full 1 in 256, summed over its strings
  for (const auto& each : fresh) {
    ASSERT_LE(each, 1);
    wrong += each == 0 ? 1 : 0;
  }
  EXPECT_LT(wrong, keys.size() / 100);
  EXPECT_GE(std::stoi(server_.run({"GET", "cursor"})), 2);
}

TEST_F(Growing, CreatesEachStringAtItsFullLength) {
  filter f = attached(*store(), "a", growing("base", 6'400, 5));
  f.add("one");
  EXPECT_EQ(server_.run({"STRLEN", "base-0"}), "800");
  EXPECT_NO_THROW(attach(store()->servers(), "again", growing("base", 6'400, 5), missing_key::refuse));
}

// Counting all bits of a long string for each batch would block its server.
// Promise: the beginning of a long string decides when it is half full (foreign-filters, Attached filters).
TEST_F(Growing, GrowsByTheBitsAtTheBeginningOfALongString) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 20;
  filter f = attached(*store(), "a", growing("base", 8 * bytes, 5));
  server_.run({"SETRANGE", "base-0", "0", std::string(bytes, '\x55')});  // half of its bits
  EXPECT_EQ(add_to(f, random_keys(1, 1)).verdicts.size(), 1u);
  server_.run({"SETRANGE", "base-0", "0", std::string(bytes / 64, '\x7f')});
  ASSERT_TRUE(add_to(f, random_keys(10, 2)).result);
  EXPECT_EQ(server_.run({"GET", "cursor"}), "1");
  EXPECT_EQ(server_.run({"STRLEN", "base-1"}), std::to_string(bytes));
}

/// How often a command has run since CONFIG RESETSTAT.
int calls_of(const redis_server& server, const std::string& command) {
  const std::string stats = server.run({"INFO", "commandstats"});
  const std::string begin = "cmdstat_" + command + ":calls=";
  const std::size_t position = stats.find(begin);
  return position == std::string::npos ? 0 : std::stoi(stats.substr(position + begin.size()));
}

// The cost of a call to the server is keys times strings.
// Promise: a call has fewer keys the more strings there are (foreign-filters, Attached filters).
TEST_F(Growing, SendsFewerKeysInACallTheMoreStringsThereAre) {
  constexpr int strings = 150;
  for (int i = 0; i < strings; ++i) server_.run({"SETBIT", "base-" + std::to_string(i), "6399", "0"});
  server_.run({"SET", "cursor", std::to_string(strings - 1)});
  filter f = attached(*store(), "a", growing("base", 6'400, 5), missing_key::refuse);
  const std::vector<std::string> keys = random_keys(1'000, 1);
  ASSERT_THAT(look_in(f, keys).verdicts, Each(verdict::fresh));
  server_.run({"CONFIG", "RESETSTAT"});
  ASSERT_THAT(look_in(f, keys).verdicts, Each(verdict::fresh));
  EXPECT_GE(calls_of(server_, "evalsha"), 1'000 * strings * 5 / 16'000);
}

// Promise: a lost string or cursor of a growing filter is an error that names it (foreign-filters, Attached
// filters).
TEST_F(Growing, LostStringIsAnErrorThatNamesIt) {
  for (const char* key : {"base-0", "base-1", "base-2"}) server_.run({"SETBIT", key, "6399", "0"});
  server_.run({"SET", "cursor", "2"});
  filter f = attached(*store(), "a", growing("base", 6'400, 5));
  f.add("one");
  for (const char* lost : {"base-0", "base-1"}) {
    server_.run({"RENAME", lost, "elsewhere"});
    const auto names_it = HasSubstr(std::string(lost) + " is missing, though the cursor");
    EXPECT_THAT(message_of<format_error>([&] { (void)f.may_contain("one"); }), names_it);
    EXPECT_THAT(message_of<format_error>([&] { f.add("two"); }), names_it);
    EXPECT_THAT(behind(f).missing(behind(f).survey()), ElementsAre(names_it));
    server_.run({"RENAME", "elsewhere", lost});
  }
  EXPECT_EQ(f.add("one"), verdict::seen);
}

// The Java version moves the cursor first.
TEST_F(Growing, WaitsForTheStringThatAnotherProgramIsAboutToCreate) {
  filter f = attached(*store(), "a", growing("base", 6'400, 5));
  f.add("one");
  server_.run({"INCR", "cursor"});
  const std::jthread java([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    server_.run({"SETBIT", "base-1", "6399", "0"});
  });
  EXPECT_EQ(f.add("two"), verdict::fresh);
  EXPECT_EQ(f.add("one"), verdict::seen);
}

TEST_F(Growing, NewestStringThatIsNeverCreatedIsAnErrorThatNamesIt) {
  filter f = attached(*store_at(server_.url("?retry_for=20ms")), "a", growing("base", 6'400, 5));
  f.add("one");
  server_.run({"INCR", "cursor"});
  EXPECT_THAT(message_of<format_error>([&] { f.add("two"); }), HasSubstr("base-1 is missing"));
  EXPECT_THAT(message_of<format_error>([&] { (void)f.may_contain("one"); }), HasSubstr("base-1 is missing"));
}

// Promise: a lost string or cursor of a growing filter is an error that names it (foreign-filters, Attached
// filters).
TEST_F(Growing, LostCursorIsAnError) {
  for (const char* key : {"base-0", "base-1"}) server_.run({"SETBIT", key, "6399", "0"});
  server_.run({"SET", "cursor", "1"});
  filter f = attached(*store(), "a", growing("base", 6'400, 5));
  f.add("one");
  server_.run({"DEL", "cursor"});
  EXPECT_THAT(message_of<format_error>([&] { (void)f.may_contain("one"); }), HasSubstr("cursor is missing"));
  EXPECT_THAT(message_of<format_error>([&] { f.add("one"); }), HasSubstr("cursor is missing"));
  EXPECT_THAT(message_of<format_error>([&] { (void)f.info(); }), HasSubstr("cursor is missing"));
  EXPECT_EQ(server_.run({"EXISTS", "cursor"}), "0");
}

TEST_F(Growing, UnavailableCommandSetIsRefused) {
  attach(store()->servers(), "a", growing("base", 6'400, 5), missing_key::create);
  EXPECT_THAT(message_of<parameter_error>(
                  [&] { (void)store_at(server_.url("?commands=bitfield"))->open("a", access::write); }),
              HasSubstr("needs scripts"));
  EXPECT_EQ(store()->open("a", access::write)->path().text, "redis, attached, script");
}

TEST_F(Growing, NeedsScripts) {
  server_.run({"ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-@scripting"});
  filter f = attached(*store_at("redis://plain:secret@" + server_.address()), "a", growing("base", 6'400, 5));
  EXPECT_THAT(message_of<backend_error>([&] { f.add("one"); }), HasSubstr("needs scripts"));
}

TEST_F(Growing, CursorThatIsNotANumberIsAnError) {
  filter f = attached(*store(), "a", growing("base", 6'400, 5));
  server_.run({"SET", "cursor", "three"});
  EXPECT_THAT(message_of<format_error>([&] { f.add("one"); }), HasSubstr("'three'"));
  EXPECT_THAT(message_of<format_error>([&] { (void)f.info(); }), HasSubstr("'three'"));
  for (const char* other : {"03", "-1", "1000"}) {
    server_.run({"SET", "cursor", other});
    EXPECT_THAT(message_of<format_error>([&] { f.add("one"); }), HasSubstr(other));
  }
}

TEST_F(Growing, StringsOfAnotherLengthAreRefused) {
  server_.run({"SETBIT", "base-0", "6399", "0"});
  EXPECT_THAT(message_of<parameter_error>(
                  [&] { attach(store()->servers(), "a", growing("base", 12'800, 5), missing_key::refuse); }),
              HasSubstr("has 6400 bits and not 12800"));
  EXPECT_THAT(message_of<parameter_error>(
                  [&] { attach(store()->servers(), "a", growing("base", 6'399, 5), missing_key::refuse); }),
              HasSubstr("multiple of 64"));
}

class Sharded : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url(const redis_server& one, const redis_server& other) const {
    return "redis://" + one.address() + "," + other.address();
  }
  redis_server first_;
  redis_server second_;
};

TEST_F(Sharded, EachKeyIsWhereItsCrcPutsIt) {
  const attachment a = sharded("clicks", 40'000'000'000);
  filter f = attached(*store_at(url(first_, second_)), "a", a);
  const std::vector<std::string> keys = {"a", "z", "hello", "13800138000", "布隆过滤器"};
  EXPECT_THAT(add_to(f, keys).verdicts, Each(verdict::fresh));
  EXPECT_THAT(add_to(f, keys).verdicts, Each(verdict::seen));
  const bkdr_php::shards places(a.hashing.bits, 2);
  ASSERT_EQ(places.partitions(), 5u);
  for (const std::string& key : keys) {
    const auto place = places.of(key);
    attachment there = a;
    there.key = "clicks." + std::to_string(place.partition);
    EXPECT_TRUE(is_known_to_original(place.instance == 0 ? first_ : second_, there, key)) << key;
  }
}

TEST_F(Sharded, OneServerAlsoHasStrings) {
  filter f = attached(*store_at(first_.url()), "a", sharded("clicks", 1'000'003));
  f.add("one");
  EXPECT_EQ(first_.run({"EXISTS", "clicks.0"}), "1");
}

// Promise: the servers of a sharded filter may be named in any order afterwards (foreign-filters, Attached
// filters).
TEST_F(Sharded, UrlInAnotherOrderFindsTheSameStringsAndOneOfAnotherNumberIsRefused) {
  using order = std::vector<const redis_server*>;
  const redis_server third;
  const auto in = [](const order& servers) {
    std::string url = "redis://";
    for (const redis_server* each : servers) url += (url.ends_with('/') ? "" : ",") + each->address();
    return store_at(url);
  };
  const std::vector<std::string> keys = random_keys(30, 1);
  filter f = attached(*in({&first_, &second_, &third}), "a", sharded("clicks", 1'000'003));
  (void)add_to(f, keys);
  for (const order& other : {order{&second_, &third, &first_}, {&third, &second_, &first_}}) {
    filter g("a", in(other)->open("a", access::write));
    EXPECT_THAT(add_to(g, keys).verdicts, Each(verdict::seen));
  }
  for (const order& fewer : {order{&first_}, {&first_, &second_}, {&second_, &third}})
    EXPECT_THAT(message_of<error>([&] { (void)in(fewer)->open("a", access::read); }),
                ::testing::Not(::testing::IsEmpty()));
}

// Promise: a server of a sharded filter that lost its data is an error that names it (foreign-filters,
// Attached filters).
TEST_F(Sharded, ServerThatLostItsDataIsAnErrorThatNamesIt) {
  filter f = attached(*store_at(url(first_, second_)), "a", sharded("clicks", 1'000'003));
  (void)add_to(f, random_keys(20, 1));
  second_.run({"FLUSHALL"});
  EXPECT_THAT(
      message_of<format_error>([&] { (void)store_at(url(first_, second_))->open("a", access::write); }),
      AllOf(HasSubstr("lost its data"), HasSubstr(second_.address())));
}

TEST_F(Sharded, IsNotAttachedWhereAServerRefusesWrites) {
  const auto place = store_at(url(first_, second_));
  second_.run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THROW(attach(place->servers(), "a", sharded("clicks", 1'000'003), missing_key::create),
               backend_error);
  EXPECT_FALSE(place->exists("a"));
  second_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_NO_THROW(attach(place->servers(), "a", sharded("clicks", 1'000'003), missing_key::create));
}

TEST_F(Sharded, LostShardIsReported) {
  const auto place = store_at(url(first_, second_));
  filter f = attached(*place, "a", sharded("clicks", 1'000'003));
  EXPECT_THAT(behind(f).missing(behind(f).survey()), ElementsAre()) << "no key is in the shard yet";
  (void)add_to(f, random_keys(50, 1));
  const filter later = attached(*place, "later", sharded("clicks", 1'000'003), missing_key::refuse);
  EXPECT_THAT(behind(later).lost_strings(), ElementsAre());
  second_.run({"DEL", "clicks.0"});
  EXPECT_THAT(behind(later).lost_strings(), ElementsAre(HasSubstr("clicks.0 of " + second_.address())));
}

TEST_F(Sharded, DropLeavesOnlyTheStringsAndTokens) {
  const auto place = store_at(url(first_, second_));
  filter f = attached(*place, "a", sharded("clicks", 1'000'003));
  (void)add_to(f, random_keys(20, 1));
  place->drop("a");
  for (const redis_server* server : {&first_, &second_})
    for (const std::string& key : keys_like(*server, "*"))
      EXPECT_THAT(key,
                  ::testing::AnyOf("clicks.0", redis::filter_keys::server("everseen"), HasSubstr(":t:")));
}

TEST_F(Sharded, KeysAreCountedOverAllStrings) {
  filter f = attached(*store_at(url(first_, second_)), "a", sharded("clicks", 100'003));
  (void)add_to(f, random_keys(4'000, 1));
  EXPECT_NEAR(static_cast<double>(f.info().keys), 4'000, 120);
  EXPECT_EQ(behind(f).survey().size(), 2u);
  EXPECT_NEAR(f.info().error_rate_now / behind(f).error_rate_now(behind(f).survey()), 1, 0.1);
}

class AttachedInCluster : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<redis_cluster>(); }
  static void TearDownTestSuite() { cluster_.reset(); }
  static redis_cluster& cluster() { return *cluster_; }
  static redis_server& owner_of(const std::string& key) { return cluster().owner(redis::slot_of(key)); }

 private:
  static inline std::unique_ptr<redis_cluster> cluster_{};
};

TEST(AttachedTokens, OfStringsWithOneHashTagAreTwo) {
  EXPECT_NE(token_key("everseen:a:", "{clicks}.0", "me"), token_key("everseen:a:", "{clicks}.1", "me"));
}

TEST_F(AttachedInCluster, TokenIsInTheSlotOfTheKeyWhateverItsName) {
  for (const std::string key :
       {"uids", "{tag}uids", "{}uids", "a{b}c{d}", "open{", "close}", "}{", "{}", "{a"}) {
    SCOPED_TRACE(key);
    EXPECT_EQ(redis::slot_of(token_key("everseen:a:", key, "me")), redis::slot_of(key));
    const std::string name = std::string("f").append(std::to_string(redis::slot_of(key)));
    const attachment a = attachment_to(key, family::gozero);
    filter f = attached(*store_at(cluster().url()), name, a);
    EXPECT_THAT(add_to(f, {"one", "two", "one"}).verdicts,
                ElementsAre(verdict::fresh, verdict::fresh, verdict::seen));
    EXPECT_TRUE(is_known_to_original(owner_of(key), a, "one"));
  }
}

TEST_F(AttachedInCluster, SlotMayMoveMeanwhile) {
  const std::string key = "moving";
  const attachment a = attachment_to(key, family::gozero);
  filter f = attached(*store_at(cluster().url()), "moves", a);
  f.add("one");
  const unsigned slot = redis::slot_of(key);
  const std::size_t from = slot * redis_cluster::masters / redis_cluster::slots;
  const std::size_t target = (from + 1) % redis_cluster::masters;
  cluster().begin_to_move(slot, from, target);
  cluster().move_keys(slot, from, target);
  cluster().finish_to_move(slot, target);
  EXPECT_EQ(f.add("one"), verdict::seen);
  EXPECT_EQ(f.add("two"), verdict::fresh);
  EXPECT_TRUE(is_known_to_original(cluster().node(target), a, "two"));
}

TEST_F(AttachedInCluster, GrowsWhereItsStringsAndCursorShareASlot) {
  attachment a = growing("{uids}", 640, 4);
  EXPECT_THAT(message_of<parameter_error>(
                  [&] { attach(store_at(cluster().url())->servers(), "grows", a, missing_key::create); }),
              HasSubstr("one slot"));
  a.cursor = "{uids}cursor";
  filter f = attached(*store_at(cluster().url()), "grows", a);
  ASSERT_TRUE(add_to(f, random_keys(500, 1)).result);
  EXPECT_GT(std::stoi(owner_of("{uids}").run({"GET", "{uids}cursor"})), 1);
}

TEST_F(AttachedInCluster, ShardsAreRefused) {
  EXPECT_THAT(message_of<parameter_error>([&] {
                attach(store_at(cluster().url())->servers(), "s", sharded("clicks", 1'000'003),
                       missing_key::create);
              }),
              HasSubstr("cluster"));
}

}  // namespace
}  // namespace everseen::foreign
