// Links of filters that their clients judge, with others of their kind and with those that servers judge.

#include <thread>

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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LinkJudgedByClients : public testing::TestWithParam<std::pair<judge_kind, judge_kind>> {
 protected:
  LinkJudgedByClients() {
    make("old", GetParam().first);
    make("new", GetParam().second);
    (void)add_keys(*store_->open("old", access::write), keys_);
  }
  void make(const std::string& name, judge_kind judge) {
    spec_request request{.capacity = 1'000, .error_rate = 1e-9, .partitions = 2};
    request.seed = hash_seed{};
    request.judge = judge;
    (void)store_->create(name, store_->plan(request));
  }
  std::string refusal(const std::function<void()>& call) { return message_of<parameter_error>(call); }
  std::string looked_up(const std::string& name) {
    return outcome(check_keys(*store_->open(name, access::read), keys_));
  }

  redis_server server_;
  std::shared_ptr<redis_store> store_ = store_at(server_.unix_url());
  const std::vector<digest> keys_ = random_digests(1).take(10);
};

TEST_P(LinkJudgedByClients, HoldsBothInTheirPlaces) {
  store_->link("old", "new", {});
  EXPECT_EQ(store_->open("new", access::read)->asks_first(), predecessor{"old"});
  EXPECT_THAT(refusal([&] { store_->drop("old"); }), HasSubstr("link --off new"));
  for (const auto& [from, to] : {std::pair{"old", "x"}, {"new", "x"}})
    EXPECT_THAT(refusal([&] { store_->rename(from, to, store::namesake::replace); }),
                HasSubstr("link --off new"))
        << from;
  make("third", judge_kind::client);
  EXPECT_THAT(refusal([&] { store_->link("new", "third", {}); }), HasSubstr("only one older filter"));
  EXPECT_THAT(refusal([&] { store_->link("third", "old", {}); }), HasSubstr("only one older filter"));
  make("fourth", judge_kind::server);
  EXPECT_THAT(refusal([&] { store_->link("old", "fourth", {}); }), HasSubstr("link --off new"));
  EXPECT_THAT(refusal([&] { store_->link("fourth", "old", {}); }), HasSubstr("only one older filter"));
  store_->unlink("new");
  EXPECT_EQ(store_->open("new", access::read)->asks_first(), std::nullopt);
  EXPECT_NO_THROW(store_->drop("old"));
}

TEST_P(LinkJudgedByClients, EndsWhenItIsToldTo) {
  store_->link("old", "new", 300ms);
  const auto open = store_->open("new", access::read);
  EXPECT_NE(open->asks_first(), std::nullopt);
  std::this_thread::sleep_for(400ms);
  EXPECT_EQ(open->asks_first(), std::nullopt);
  EXPECT_EQ(looked_up("new"), "10 fresh");
  EXPECT_NO_THROW(store_->drop("old"));
}

TEST_P(LinkJudgedByClients, OfANewerOneThatIsGoneHoldsNobodyUp) {
  store_->link("old", "new", {});
  store_->drop("new");
  make("new", GetParam().second);
  EXPECT_EQ(store_->open("new", access::read)->asks_first(), std::nullopt);
  make("other", judge_kind::client);
  EXPECT_NO_THROW(store_->link("old", "other", {}));
  store_->unlink("other");
  EXPECT_NO_THROW(store_->rename("old", "x", store::namesake::refuse));
}

TEST_P(LinkJudgedByClients, OfManyAtOnceOneIsMade) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> linked = 0;
    {
      std::vector<std::jthread> threads;
      for (const auto& [older, newer] : {std::pair{"old", "new"}, {"new", "old"}})
        threads.emplace_back([&, older = older, newer = newer] {
          try {
            store_at(server_.unix_url())->link(older, newer, {});
            ++linked;
          } catch (const parameter_error&) {
          }
        });
    }
    EXPECT_LE(linked, 1);
    for (const char* one : {"old", "new"}) (void)refusal([&] { store_->unlink(one); });
  }
}

std::string name_of(const testing::TestParamInfo<std::pair<judge_kind, judge_kind>>& one) {
  return std::string(to_string(one.param.first)) + "_then_" + std::string(to_string(one.param.second));
}

INSTANTIATE_TEST_SUITE_P(Judges, LinkJudgedByClients,
                         testing::Values(std::pair{judge_kind::client, judge_kind::client},
                                         std::pair{judge_kind::server, judge_kind::client},
                                         std::pair{judge_kind::client, judge_kind::server}),
                         name_of);

}  // namespace
}  // namespace everseen::redis
