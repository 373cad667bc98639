// Errors of a filter on a server that is damaged: they always name the key and give advice, and no key is
// ever reported as fresh.

#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/stored.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::keys_in;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::MatchesRegex;
using ::testing::Not;
using cause = batch_failure::cause;

/// A server, and on it the filter `clicks` of one partition, which contains `known`.
class DamagedFilter : public testing::Test {
 protected:
  DamagedFilter() {
    filter_ =
        store_->create("clicks", planned(*store_, {.capacity = 200, .error_rate = 1e-9, .partitions = 1}));
    EXPECT_TRUE(add_keys(*filter_, known_).result);
    name_keys();
  }

  /// Of the filter that currently has the name.
  void name_keys() {
    header_ = header_of(server_, "clicks");
    state_ = state_of(server_, "clicks");
  }

  /// Clients that have it open, and clients that open it now to add, look up or copy, get an error that names
  /// the key.
  void expect_errors_about(const std::string& key, const std::string& problem) {
    const auto told =
        AllOf(HasSubstr(key), HasSubstr(problem), HasSubstr("Restore"), Not(HasSubstr("but a key")));
    for (const bool opened_before : {true, false}) {
      const auto f = opened_before ? filter_ : store_->open("clicks", access::write);
      const auto add = failure_of_add(*f, known_);
      ASSERT_TRUE(add) << "added";
      EXPECT_THAT(add->message, told);
      EXPECT_EQ(add->why, cause::format);
      const auto check = failure_of_check(*f, known_);
      ASSERT_TRUE(check) << "looked up";
      EXPECT_THAT(check->message, told);
      EXPECT_EQ(check->why, cause::format);
      EXPECT_THAT(message_of<format_error>([&] { f->visit_segments(0, [](auto&&...) {}); }), told);
    }
  }

  redis_server server_{test::with_module()};
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  std::vector<digest> known_ = random_digests(1).take(100);
  std::shared_ptr<stored_filter> filter_;
  std::string header_, state_;
};

TEST_F(DamagedFilter, KeysAreNamedAsDocumented) {
  const auto all = keys_like(server_, "*");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_THAT(all[0], MatchesRegex(R"(everseen:\{[0-9a-f]{32}/0\})"));
  EXPECT_THAT(all[1].substr(all[0].size()), MatchesRegex(":t:[0-9a-f]{32}"));
  EXPECT_EQ(all[2], all[0].substr(0, all[0].size() - 3) + "}");
  EXPECT_EQ(all[3], "everseen:{names}");
  EXPECT_EQ(all[4], "everseen:{names}:sign");
  EXPECT_THAT(all[5], MatchesRegex(R"(everseen:\{names\}:t:[0-9a-f]{32})"));
  EXPECT_EQ(server_.run({"TYPE", all[0]}), "everseen1");
  EXPECT_EQ(server_.run({"HKEYS", all[3]}), "clicks");
  EXPECT_EQ(server_.run({"HGET", all[3], "clicks"}), server_.run({"HGET", all[2], "id"}));
  std::vector<std::string> header = lines_of(server_.run({"HKEYS", all[2]}));
  std::ranges::sort(header);
  EXPECT_THAT(header, ElementsAre("id", "judge", "servers", "spec"));
  for (const std::string& key : all)
    EXPECT_EQ(server_.run({"TTL", key}) == "-1", key.find("}:t:") == std::string::npos)
        << key << ": only tokens expire";
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, EvictedState) {
  // Nothing else may be evicted before it: where a name or a header is also lost, this looks like a drop.
  server_.run({"PEXPIRE", state_, "86400000"});
  server_.run({"CONFIG", "SET", "maxmemory-policy", "volatile-random"});
  server_.run({"CONFIG", "SET", "maxmemory", "1mb"});
  test::wait_until(
      [&] {
        return server_.run({"SET", "new", std::string(1000, 'x')}), server_.run({"EXISTS", state_}) == "0";
      },
      "the state is evicted");
  const auto failure = failure_of_check(*filter_, known_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("is missing"));
  EXPECT_EQ(failure->why, cause::format);
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, DeletedState) {
  server_.run({"DEL", state_});
  expect_errors_about(state_, "is missing");
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, StateOfAnotherType) {
  server_.run({"SET", state_, "x"});
  expect_errors_about(state_, "another type");
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, StateOfAnotherFilter) {
  (void)store_->create("other", planned(*store_, {.capacity = 300, .error_rate = 1e-9, .partitions = 1}));
  server_.run({"COPY", state_of(server_, "other"), state_, "REPLACE"});
  expect_errors_about(state_, "another filter");
  EXPECT_THAT(message_of<format_error>([&] { (void)filter_->state(0); }), HasSubstr("another filter"));
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, DeletedHeaderDoesNotFreeTheName) {
  server_.run({"DEL", header_});
  EXPECT_THAT(message_of<format_error>([&] { store_->open("clicks", access::read); }),
              AllOf(HasSubstr(header_ + " is missing"), HasSubstr("drop it")));
  const spec s = filter_->get_spec();
  EXPECT_THROW((void)store_->create("clicks", s), name_taken)
      << "a new filter would report all keys as fresh";
  EXPECT_THROW((void)store_->begin_restore("clicks", s), name_taken);
  EXPECT_THAT(store_->list(), ElementsAre("clicks")) << "so that the loss is noticed";
  store_->drop("clicks");
  EXPECT_EQ(keys_in(*store_->create("clicks", s)), 0u);
}

TEST_F(DamagedFilter, FilterCreatedAfterItsHeaderWasLostInheritsNothing) {
  server_.run({"DEL", header_, "everseen:{names}", "everseen:{names}:sign"});
  const auto again = store_->create("clicks", filter_->get_spec());
  EXPECT_EQ(outcome(check_keys(*again, known_)), "100 fresh");
  EXPECT_EQ(keys_in(*again), 0u);
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, HeaderOfAnotherType) {
  server_.run({"SET", header_, "x"});
  EXPECT_THAT(message_of<format_error>([&] { store_->open("clicks", access::read); }),
              AllOf(HasSubstr(header_), HasSubstr("another type")));
}

// Promise: a state or header that is missing, damaged or another filter's is an error that names it (redis,
// What holds for all filters on Redis).
TEST_F(DamagedFilter, HeaderWithADamagedField) {
  const struct {
    const char *field, *value, *told;
  } all[] = {{"spec", "x", "is damaged"},
             {"id", "x", "belongs to another filter"},
             {"servers", "x", "how many servers"},
             {"servers", "1x", "how many servers"}};
  for (const auto& one : all) {
    const std::string before = server_.run({"HGET", header_, one.field});
    for (const bool missing : {false, true}) {
      missing ? server_.run({"HDEL", header_, one.field})
              : server_.run({"HSET", header_, one.field, one.value});
      EXPECT_THAT(message_of<format_error>([&] { store_->open("clicks", access::read); }),
                  AllOf(HasSubstr(header_), HasSubstr(one.told), HasSubstr("Restore")));
      EXPECT_THROW(store_->create("clicks", filter_->get_spec()), name_taken);
    }
    server_.run({"HSET", header_, one.field, before});
  }
  EXPECT_EQ(outcome(check_keys(*store_->open("clicks", access::read), known_)), "100 seen");
}

TEST_F(DamagedFilter, SpecOfAnotherVersion) {
  std::string bytes = server_.run({"HGET", header_, "spec"});
  const auto version = image::encode_spec(filter_->get_spec());
  ASSERT_EQ(bytes.size(), version.size());
  bytes[0] = static_cast<char>(bytes[0] + 1);
  server_.run({"HSET", header_, "spec", bytes});
  EXPECT_THAT(message_of<format_error>([&] { store_->open("clicks", access::read); }), HasSubstr(header_));
}

// Promise: a damaged filter can be dropped (redis, What holds for all filters on Redis).
TEST_F(DamagedFilter, DamagedFilterCanBeDropped) {
  const filter_keys clicks = identity_at(server_, "clicks", {}).keys;
  const std::vector<std::function<void()>> damages = {
      [&] {
        server_.run({"DEL", state_});
      },
      [&] {
        server_.run({"SET", state_, "x"});
      },
      [&] {
        server_.run({"EVERSEEN.SEAL", state_, std::string(16, 'x')});
      },
      [&] {
        server_.run({"HSET", header_, "spec", "x"});
      },
      [&] {
        server_.run({"HSET", header_, "next", "x"});
      },
      [&] {
        server_.run({"SET", header_, "x"});
      },
      [&] {
        server_.run({"HSET", job_keys::list(clicks), "count", "x"});
      },
      [&] {
        server_.run({"SET", job_keys::list(clicks), "x"});
      },
      [&] {
        server_.run({"DEL", header_});
      },
  };
  const spec s = filter_->get_spec();
  for (std::size_t i = 0; i < damages.size(); ++i) {
    SCOPED_TRACE("damage " + std::to_string(i));
    damages[i]();
    store_->drop("clicks");
    EXPECT_THAT(store_->list(), IsEmpty());
    const auto again = store_->create("clicks", s);
    EXPECT_EQ(outcome(add_keys(*again, known_)), "100 fresh");
    name_keys();
  }
}

TEST_F(DamagedFilter, DroppedFilterLeavesOnlyKeysThatExpire) {
  store_->drop("clicks");
  for (const std::string& key : keys_like(server_, "*"))
    EXPECT_GT(std::stol(server_.run({"PTTL", key})), 0) << key;
}

TEST_F(DamagedFilter, ClientsOfADroppedFilterGetAnErrorAndDoNotTouchTheNewOne) {
  store_->drop("clicks");
  const auto again = store_->create("clicks", filter_->get_spec());
  ASSERT_TRUE(add_keys(*again, random_digests(3).take(10)).result);
  const auto failure = failure_of_add(*filter_, known_);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("is gone: it was dropped, replaced"));
  EXPECT_EQ(failure->why, cause::storage) << "no damage";
  EXPECT_EQ(keys_in(*again), 10u);
  store_->drop("clicks");
  const auto looked = failure_of_check(*filter_, known_);
  ASSERT_TRUE(looked);
  EXPECT_THAT(looked->message, HasSubstr("was dropped, replaced or deleted"));
}

TEST_F(DamagedFilter, InterruptedDropIsFinishedByTheNext) {
  begin_drop(server_, "clicks");
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(message_of<parameter_error>([&] { store_->open("clicks", access::read); }),
              HasSubstr("no filter named 'clicks'"));
  (void)store_->create("clicks", filter_->get_spec());
  store_->drop("clicks");
  for (const std::string& key : keys_like(server_, "*"))
    EXPECT_GT(std::stol(server_.run({"PTTL", key})), 0) << key;
}

TEST_F(DamagedFilter, TwoPrefixesShareNothing) {
  const auto other = store_at(server_.url("?prefix=staging"));
  EXPECT_THAT(other->list(), IsEmpty());
  const auto f = other->create("clicks", filter_->get_spec());
  EXPECT_EQ(outcome(add_keys(*f, known_)), "100 fresh");
  other->drop("clicks");
  EXPECT_EQ(outcome(check_keys(*filter_, known_)), "100 seen");
  EXPECT_THAT(store_->list(), ElementsAre("clicks"));
}

TEST_F(DamagedFilter, FullServerRefusesAndAnswersAgainWhenItHasRoom) {
  server_.run({"CONFIG", "SET", "maxmemory", "1mb"});
  const auto more = random_digests(4).take(100);
  const auto failure = failure_of_add(*filter_, more);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message,
              AllOf(HasSubstr("maxmemory"), HasSubstr(state_), Not(HasSubstr("but a key"))));
  EXPECT_EQ(failure->why, cause::backend);
  EXPECT_EQ(outcome(check_keys(*filter_, known_)), "100 seen") << "look-ups continue";
  EXPECT_THAT(message_of<backend_error>([&] { store_->create("new", filter_->get_spec()); }),
              AllOf(HasSubstr("everseen:{"), HasSubstr("maxmemory")));
  server_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(outcome(add_keys(*filter_, more)), "100 fresh") << "the refused batch had left no bit";
}

TEST_F(DamagedFilter, FullServerRefusesGrowth) {
  redis_server& server = server_;
  server.run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  const auto f =
      store_->create("big", planned(*store_, {.capacity = 20'000, .error_rate = 1e-6, .partitions = 1}));
  random_digests source(5);
  server.run({"CONFIG", "SET", "maxmemory", "1"});
  const auto failure = failure_of_add(*f, source.take(10));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("maxmemory"));
  server.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(outcome(add_keys(*f, random_digests(5).take(10))), "10 fresh");
}

TEST_F(DamagedFilter, ReadOnlyReplicaAnswersLookUpsAndRefusesToAdd) {
  server_.run({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
  redis_server::options o;
  o.config = test::with_module();
  o.config.insert(o.config.end(), {"--replicaof", "127.0.0.1", std::to_string(server_.port())});
  redis_server replica(o);
  test::wait_until([&] { return replica.run({"EXISTS", state_}) == "1"; }, "the replica is in step");
  const auto there = store_at(replica.url("?retry_for=100ms"));
  const auto f = there->open("clicks", access::read);
  EXPECT_EQ(outcome(check_keys(*f, known_)), "100 seen");
  EXPECT_THAT(message_of<backend_error>([&] { there->create("new", filter_->get_spec()); }),
              HasSubstr("READONLY"));
  const auto writer = [&] {
    const auto w = there->open("clicks", access::write);
    if (const auto failure = failure_of_add(*w, random_digests(6).take(5)))
      throw backend_error(failure->message);
  };
  EXPECT_THAT(message_of<backend_error>(writer), AllOf(HasSubstr("READONLY"), Not(HasSubstr("but a key"))));
}

// In the words of Redis 7, and of Redis 8.
const auto refuses_a_command =
    AnyOf(HasSubstr("can't run this command"), HasSubstr("has no permissions to run the"));

TEST_F(DamagedFilter, UserWithoutRightsGetsTheNameOfTheKeyOrCommand) {
  server_.run(
      {"ACL", "SETUSER", "reader", "on", ">secret", "~everseen*", "+@read", "+time", "+evalsha", "+eval"});
  const auto as = [&](const std::string& user) {
    return store_at("redis://" + user + ":secret@" + server_.address());
  };
  const auto reader = as("reader")->open("clicks", access::read);
  EXPECT_THAT(message_of<backend_error>([&] { as("reader")->create("new", filter_->get_spec()); }),
              AllOf(HasSubstr("everseen"), refuses_a_command));

  server_.run({"ACL", "SETUSER", "adder", "on", ">secret", "~everseen*", "+@all", "-everseen.addpacked"});
  const auto f = as("adder")->open("clicks", access::write);
  const auto failure = failure_of_add(*f, random_digests(7).take(5));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, AllOf(HasSubstr(state_), refuses_a_command, Not(HasSubstr("but a key"))));

  server_.run({"ACL", "SETUSER", "elsewhere", "on", ">secret", "~other*", "+@all"});
  EXPECT_THAT(message_of<backend_error>([&] { as("elsewhere")->open("clicks", access::read); }),
              AllOf(HasSubstr("everseen:{names}"), HasSubstr("NOPERM")));
}

TEST_F(DamagedFilter, WrongPasswordIsReportedImmediately) {
  redis_server::options o;
  o.password = "right";
  redis_server locked(o);
  const auto wrong = store_at("redis://:wrong@" + locked.address());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(message_of<backend_error>([&] { wrong->create("a", filter_->get_spec()); }),
              AllOf(HasSubstr("WRONGPASS"), Not(HasSubstr("wrong@"))));
  EXPECT_THAT(message_of<backend_error>([&] { store_at(locked.url())->open("a", access::read); }),
              HasSubstr("NOAUTH"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9)) << "a retry lasts 10 s";
}

TEST_F(DamagedFilter, ServerThatRestartsWithoutItsDataIsDetected) {
  server_.kill();
  server_.start();
  ASSERT_THAT(keys_like(server_, "*"), IsEmpty());
  for (const auto& failure : {failure_of_add(*filter_, known_), failure_of_check(*filter_, known_)}) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message, AllOf(HasSubstr(header_.substr(0, 42)), HasSubstr("is gone"),
                                        HasSubstr("lost its data"), Not(HasSubstr("but a key"))));
    EXPECT_EQ(failure->why, cause::storage) << "an empty server cannot distinguish a loss from a drop";
  }
}

// Promise: a server that lost its data is noticed when the filter is opened (redis, Several servers).
TEST(LostInstance, OneOfThreeWithoutItsDataIsDetectedWhenTheFilterIsOpened) {
  redis_server one(test::with_module()), two(test::with_module()), three(test::with_module());
  const std::string url = "redis://" + one.address() + "," + two.address() + "," + three.address();
  const auto store = store_at(url);
  const auto f =
      store->create("clicks", planned(*store, {.capacity = 600, .error_rate = 1e-9, .partitions = 3}));
  const auto keys = random_digests(1).take(300);
  ASSERT_TRUE(add_keys(*f, keys).result);
  // Not the server of partition 0, which also has the header: without it the filter is gone, not damaged.
  const std::string lost = f->path().places.at(1);
  for (const redis_server* each : {&one, &two, &three})
    if (each->address() == lost) each->run({"FLUSHALL"});
  EXPECT_THAT(message_of<format_error>([&] { (void)store_at(url)->open("clicks", access::write); }),
              HasSubstr(lost + " has no part in the 3 servers"));
  const test::answers got = check_keys(*f, keys);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("} is missing"));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool is_lost = f->path().places.at(partition_of(keys[i], 3)) == lost;
    EXPECT_EQ(got.verdicts[i], is_lost ? verdict::unknown : verdict::seen) << i;
  }
}

// Promise: a server that is unavailable leaves the others their answers (redis, Outages).
TEST(LostInstance, UnavailableServerOfThreeDoesNotAffectAnswersOfTheOthers) {
  redis_server one(test::with_module()), two(test::with_module()), three(test::with_module());
  const auto url = [&](const char* options) {
    return "redis://" + three.address() + "," + two.address() + "," + one.address() + options;
  };
  const auto store = store_at(url(""));
  const auto f =
      store->create("clicks", planned(*store, {.capacity = 600, .error_rate = 1e-9, .partitions = 3}));
  const auto keys = random_digests(1).take(300);
  ASSERT_TRUE(add_keys(*f, keys).result);
  // One of them has the names.
  redis_server& away = one.run({"EXISTS", "everseen:{names}"}) == "1" ? two : one;
  away.stop();
  const auto reopened = store_at(url("/?retry_for=0s"))->open("clicks", access::read);
  const test::answers got = check_keys(*reopened, keys);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(std::ranges::count(got.verdicts, verdict::unknown), AllOf(Ge(50), Le(150)));
  EXPECT_EQ(std::ranges::count(got.verdicts, verdict::fresh), 0);
}

// Promise: what was acknowledged under appendfsync always is seen after kill -9 of the server (redis,
// Durability and eviction).
TEST(Durability, AcknowledgedKeysAreSeenAfterKill9) {
  redis_server::options o;
  o.config = test::with_module();
  o.config.insert(o.config.end(), {"--appendonly", "yes", "--appendfsync", "always"});
  redis_server server(o);
  const auto store = store_at(server.url());
  const auto f =
      store->create("clicks", planned(*store, {.capacity = 300, .error_rate = 1e-9, .partitions = 2}));
  std::vector<digest> acknowledged;
  random_digests source(2);
  for (int round = 0; round < 3; ++round) {
    for (int batch = 0; batch < 10; ++batch) {
      const auto keys = source.take(50);
      ASSERT_TRUE(add_keys(*f, keys).result);
      acknowledged.insert(acknowledged.end(), keys.begin(), keys.end());
    }
    server.kill();
    server.start();
    EXPECT_EQ(tally_of(check_keys(*f, acknowledged)).seen, acknowledged.size());
    EXPECT_EQ(keys_in(*store_at(server.url())->open("clicks", access::read)), acknowledged.size());
  }
}

}  // namespace
}  // namespace everseen::redis
