// Several independent servers: each knows which part of a filter it has.

#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/stored.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class ServerFleet : public testing::Test {
 protected:
  template <typename... Servers>
  static std::string url(const redis_server& first, const Servers&... more) {
    return ("redis://" + first.address() + ... + ("," + more.address())) + "/?retry_for=100ms";
  }
  /// A filter with one partition on each server.
  static std::shared_ptr<stored_filter> made(const std::string& through, std::uint32_t servers,
                                             const std::string& name = "clicks") {
    const auto store = store_at(through);
    return store->create(name,
                         planned(*store, {.capacity = 600, .error_rate = 1e-12, .partitions = servers}));
  }
  static std::shared_ptr<stored_filter> opened(const std::string& through) {
    return store_at(through)->open("clicks", access::write);
  }

  template <typename Error = parameter_error>
  static std::string error_of_opening(const std::string& through) {
    return message_of<Error>([&] { (void)opened(through); });
  }
  template <typename Error = parameter_error>
  static std::string error_of_creating(const std::string& through, const std::string& name = "clicks") {
    return message_of<Error>([&] { (void)made(through, 2, name); });
  }
  template <typename Error = parameter_error>
  static std::string error_of_dropping(const std::string& through) {
    return message_of<Error>([&] { store_at(through)->drop("clicks"); });
  }
  /// The one of the two that has the names.
  redis_server& first() { return keys_like(one_, "everseen:{names}").empty() ? two_ : one_; }
  redis_server& second() { return &first() == &one_ ? two_ : one_; }

  redis_server one_, two_, three_;
  std::vector<digest> keys_ = random_digests(1).take(300);
};

// Promise: a URL may name the servers in any order (redis, Several servers).
TEST_F(ServerFleet, OrderOfServersInAUrlDoesNotMatter) {
  ASSERT_EQ(outcome(add_keys(*made(url(one_, two_, three_), 3), keys_)), "300 fresh");
  const auto somewhere_else = opened(url(three_, one_, two_));
  EXPECT_EQ(outcome(add_keys(*somewhere_else, keys_)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*opened(url(two_, one_, three_)), keys_)), "300 seen");
  EXPECT_EQ(somewhere_else->path().places.at(0), opened(url(one_, two_, three_))->path().places.at(0));
  EXPECT_THROW((void)made(url(two_, three_, one_), 3), name_taken);
  EXPECT_EQ(store_at(url(three_, two_, one_))->list(), std::vector<std::string>{"clicks"});
  store_at(url(three_, two_, one_))->drop("clicks");
  for (const redis_server* server : {&one_, &two_, &three_})
    for (const std::string& key : keys_like(*server, "everseen:{????????????????????????????????*}*"))
      EXPECT_THAT(key, HasSubstr("}:t:")) << "a token expires";
}

// Promise: a URL with fewer or more servers is an error and drops nothing (redis, Several servers).
TEST_F(ServerFleet, FewerOrMoreServersAreAnErrorAndDropNothing) {
  const auto filter = made(url(one_, two_), 2);
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "300 fresh");
  const auto all = HasSubstr("name all of them, in any order");
  const auto of_two = AllOf(HasSubstr("spread over 2 servers"), HasSubstr("the URL names"), all);
  EXPECT_THAT(error_of_opening(url(first())), of_two);
  EXPECT_THAT(error_of_dropping(url(first())), of_two);
  EXPECT_THAT(error_of_creating<name_taken>(url(first())), HasSubstr("clicks"));
  for (const std::string& through : {url(one_, two_, three_), url(three_, one_, two_)}) {
    EXPECT_THAT(error_of_opening(through), of_two);
    EXPECT_THAT(error_of_creating(through), of_two);
    EXPECT_THAT(error_of_dropping(through), of_two);
  }
  EXPECT_EQ(outcome(check_keys(*filter, keys_)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*opened(url(two_, one_)), keys_)), "300 seen");
}

// Its names are elsewhere: a filter created on it would differ from the one of that name.
TEST_F(ServerFleet, OtherThanTheFirstServerCreatesNoFilterAlone) {
  ASSERT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
  EXPECT_THAT(error_of_opening<no_filter>(url(second())), HasSubstr("clicks"));
  EXPECT_THAT(error_of_creating(url(second())),
              AllOf(HasSubstr("spread over 2 servers"), HasSubstr(second().address()),
                    HasSubstr("name all of them"), HasSubstr("prefix=")));
  EXPECT_NO_THROW((void)store_at(url(second()) + "&prefix=own")
                      ->create("clicks", make_spec({.judge = judge_kind::client})));
  EXPECT_NO_THROW((void)made(url(first()), 2, "mine")) << "this one knows all names";
}

// Promise: a server that lost its data, or belongs to others, is an error that names it (redis, Several
// servers).
TEST_F(ServerFleet, ForeignServerInItIsAnErrorThatNamesIt) {
  ASSERT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
  const auto stranger = AllOf(HasSubstr(three_.address() + " has no part"), HasSubstr("name the right one"));
  for (const std::string& through : {url(one_, three_), url(three_, two_)}) {
    EXPECT_THAT(error_of_opening<format_error>(through), stranger);
    EXPECT_THAT(error_of_creating<format_error>(through), stranger);
    EXPECT_THAT(error_of_dropping<format_error>(through), stranger);
  }
  const std::string again = "localhost:" + std::to_string(one_.port());
  EXPECT_THAT(error_of_opening("redis://" + one_.address() + "," + again), HasSubstr("name each once"));
}

// Promise: a server that lost its data, or belongs to others, is an error that names it (redis, Several
// servers).
TEST_F(ServerFleet, DistinguishesAServerThatLostAllFromANewOne) {
  for (const bool is_first : {true, false}) {
    ASSERT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
    redis_server& lost = is_first ? first() : second();
    redis_server& other = &lost == &one_ ? two_ : one_;
    lost.run({"FLUSHALL"});
    const auto says_so = AllOf(HasSubstr(lost.address() + " has no part"), HasSubstr("has lost its data"),
                               HasSubstr("delete all keys everseen:* on each of them"));
    EXPECT_THAT(error_of_opening<format_error>(url(one_, two_)), says_so);
    EXPECT_THAT(error_of_creating<format_error>(url(one_, two_)), says_so);
    for (const std::string& key : keys_like(other, "everseen:*")) other.run({"DEL", key});
  }
  EXPECT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
}

TEST_F(ServerFleet, SharedWithFiltersOfOtherServersIsRefused) {
  (void)made(url(one_, two_), 2);
  EXPECT_THAT(error_of_creating<format_error>(url(two_, three_), "other"), HasSubstr("has no part"));
  EXPECT_THAT(keys_like(three_, "*"), IsEmpty());
}

TEST_F(ServerFleet, ServerThatIsDownLeavesADropHalfDoneWithAnError) {
  (void)made(url(one_, two_), 2);
  (void)made(url(one_, two_), 2, "other");
  redis_server& away = second();
  away.run({"CONFIG", "SET", "save", "3600 1"});
  away.stop();
  EXPECT_THAT(error_of_dropping<backend_error>(url(one_, two_)),
              AllOf(HasSubstr("'clicks' is dropped"), HasSubstr("the next drop"), HasSubstr(away.address())));
  EXPECT_EQ(store_at(url(one_, two_))->list(), std::vector<std::string>{"other"});
  away.start();
  store_at(url(one_, two_))->drop("other");
  for (const redis_server* server : {&one_, &two_})
    EXPECT_THAT(keys_like(*server, "everseen:{????????????????????????????????*}*"), IsEmpty());
}

TEST_F(ServerFleet, ServerThatIsDownLeavesAResetHalfDoneWithAnError) {
  const auto filter = made(url(one_, two_), 2);
  redis_server& away = second();
  away.stop();
  EXPECT_THAT(message_of<backend_error>([&] { store_at(url(one_, two_))->reset("clicks"); }),
              AllOf(HasSubstr("'clicks' may be reset in part"), HasSubstr("reset it again"),
                    HasSubstr(away.address())));
}

TEST_F(ServerFleet, IsFoundedByManyConcurrently) {
  const std::string orders[] = {url(one_, two_, three_), url(two_, three_, one_), url(three_, one_, two_),
                                url(three_, two_, one_)};
  std::vector<std::string> names;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 8; ++i) {
      names.push_back("f" + std::to_string(i));
      threads.emplace_back([&, i, name = names.back()] {
        EXPECT_EQ(outcome(add_keys(*made(orders[i % 4], 3, name), keys_)), "300 fresh");
      });
    }
  }
  for (const std::string& order : orders) {
    EXPECT_EQ(store_at(order)->list(), names);
    for (const std::string& name : names)
      EXPECT_EQ(outcome(check_keys(*store_at(order)->open(name, access::read), keys_)), "300 seen");
  }
}

// A batch finds a partition missing after a server was replaced by another.
TEST_F(ServerFleet, ServerThatLosesAllWhileAFilterIsOpenIsDamageThatNamesTheKey) {
  const auto filter = made(url(one_, two_), 2);
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "300 fresh");
  second().run({"FLUSHALL"});
  const auto failure = failure_of_add(*filter, random_digests(2).take(50));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->why, batch_failure::cause::format) << "not an outage that a retry could end";
  EXPECT_THAT(failure->message, HasSubstr("is missing"));
}

}  // namespace
}  // namespace everseen::redis
