// Several independent servers: a filter knows through which of them, in which order, it was made.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/error.hpp"

#include "test/redis/stored.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class ServerOrder : public testing::Test {
 protected:
  template <typename... Servers>
  static std::string url(const redis_server& first, const Servers&... more) {
    return ("redis://" + first.address() + ... + ("," + more.address())) + "/?retry_for=100ms";
  }
  std::string made_through_one_and_two() const {
    return "'clicks' was made through " + one_.address() + "," + two_.address();
  }

  /// A filter of one partition a server.
  static std::shared_ptr<stored_filter> made(const std::string& through, std::uint32_t servers) {
    const auto store = store_at(through);
    return store->create("clicks",
                         planned(*store, {.capacity = 600, .error_rate = 1e-12, .partitions = servers}));
  }

  static std::string complaint_of_opening(const std::string& through) {
    return message_of<parameter_error>([&] { (void)store_at(through)->open("clicks", access::write); });
  }
  static std::string complaint_of_making(const std::string& through) {
    return message_of<parameter_error>([&] { (void)made(through, 2); });
  }
  static std::string complaint_of_dropping(const std::string& through) {
    return message_of<parameter_error>([&] { store_at(through)->drop("clicks"); });
  }

  redis_server one_, two_, three_;
  std::vector<digest> keys_ = random_digests(1).take(300);
};

TEST_F(ServerOrder, OfAUrlThatIsAnotherThanTheFiltersIsAnErrorThatNamesTheRightOne) {
  const auto filter = made(url(one_, two_), 2);
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "300 fresh");
  const auto another_order = AllOf(HasSubstr(made_through_one_and_two()), HasSubstr("in another order"));
  const auto another_number =
      AllOf(HasSubstr(made_through_one_and_two()), HasSubstr("fewer or more servers"));
  EXPECT_THAT(complaint_of_opening(url(two_, one_)), another_order);
  EXPECT_THAT(complaint_of_opening(url(one_)), another_number);
  EXPECT_THAT(complaint_of_opening(url(two_)), another_number);
  EXPECT_THAT(complaint_of_opening(url(one_, two_, three_)), another_number);
  EXPECT_THAT(complaint_of_opening(url(three_, one_, two_)), another_number);
  EXPECT_THAT(complaint_of_making(url(two_, one_)), another_order);
  EXPECT_THAT(complaint_of_making(url(two_)), another_number);
  EXPECT_EQ(outcome(check_keys(*store_at(url(one_, two_))->open("clicks", access::read), keys_)), "300 seen");
}

TEST_F(ServerOrder, ThatIsWrongDropsNothing) {
  const auto filter = made(url(one_, two_), 2);
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "300 fresh");
  for (const std::string& wrong : {url(two_, one_), url(one_), url(two_)})
    EXPECT_THAT(complaint_of_dropping(wrong), HasSubstr(made_through_one_and_two())) << wrong;
  EXPECT_EQ(outcome(check_keys(*filter, keys_)), "300 seen");
  store_at(url(one_, two_))->drop("clicks");
  for (const redis_server* server : {&one_, &two_})
    for (const std::string& key : keys_like(*server, "*"))
      EXPECT_THAT(key, HasSubstr("}:t:")) << "a token expires";
}

TEST_F(ServerOrder, BehindTheFirstIsNoticedWhereAPartitionIsMissing) {
  ASSERT_EQ(outcome(add_keys(*made(url(one_, two_, three_), 3), keys_)), "300 fresh");
  const auto swapped = store_at(url(one_, three_, two_))->open("clicks", access::write);
  const auto failure = add_keys(*swapped, keys_).result;
  ASSERT_FALSE(failure);
  EXPECT_THAT(failure.error().message, HasSubstr("in another order"));
  EXPECT_EQ(failure.error().why, batch_failure::cause::format) << "no outage that one could wait for";
  EXPECT_THAT(message_of<parameter_error>([&] { (void)swapped->state(1); }), HasSubstr("in another order"));
}

TEST_F(ServerOrder, IsUnknownOfAnOldFilterWhichOpensAllTheSame) {
  ASSERT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
  one_.run({"HDEL", "everseen:clicks", "place", "servers"});
  two_.run({"DEL", "everseen:clicks"});
  EXPECT_EQ(outcome(add_keys(*store_at(url(one_, two_))->open("clicks", access::write), keys_)), "300 seen");
}

TEST_F(ServerOrder, TellsAFirstServerThatLostAllFromANewOne) {
  ASSERT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
  one_.run({"FLUSHALL"});
  const auto store = store_at(url(one_, two_));
  const auto lost = [&](auto call) { return message_of<format_error>(call); };
  EXPECT_THAT(lost([&] { (void)store->open("clicks", access::write); }),
              HasSubstr("everseen:clicks is missing"));
  EXPECT_THAT(lost([&] { (void)made(url(one_, two_), 2); }), HasSubstr("everseen:clicks is missing"));
  store->drop("clicks");
  EXPECT_EQ(outcome(add_keys(*made(url(one_, two_), 2), keys_)), "300 fresh");
}

TEST_F(ServerOrder, IsForgottenWhenAFilterEnds) {
  const auto store = store_at(url(one_, two_));
  (void)store->create_expiring("clicks", planned(*store, {.capacity = 600, .partitions = 2}), 1h);
  EXPECT_EQ(two_.run({"PEXPIRETIME", "everseen:clicks"}), one_.run({"PEXPIRETIME", "everseen:clicks"}));
}

}  // namespace
}  // namespace everseen::redis
