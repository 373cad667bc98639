// Filters that their clients judge: long records that arrive incompletely or late are sent again or give an
// error, never a wrong verdict.

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/journal_record.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"

#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::cutting_proxy;
using test::random_digests;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class StagedRecord : public JudgedByClients {
 protected:
  /// Of the commands that add the next long record, all except the last bytes of the script pass.
  /// @return the bytes of these commands
  std::size_t hold_before_the_script(cutting_proxy& proxy, stored_filter& writer) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (int i = 0; i < 3; ++i) {  // now and then it also sends another request
      const std::size_t before = proxy.passed(direction::to_server);
      EXPECT_EQ(fresh_in(add_keys(writer, random_.take(many))), many);
      least = std::min(least, proxy.passed(direction::to_server) - before);
    }
    proxy.hold_after(direction::to_server, least - 20);
    return least;
  }
  /// @param harm  DEL, or SET: to something shorter
  void lose_what_is_staged(const cutting_proxy& proxy, std::string_view harm) {
    wait_until_held(proxy);
    test::wait_until([&] { return staged().size() == 1; }, "it is staged");
    const std::string key = staged().front();
    (void)(harm == "DEL" ? server_.run({"DEL", key}) : server_.run({"SET", key, "short"}));
  }
  std::vector<std::string> staged() { return keys_like(server_, "everseen:{*/0}:s*"); }

  const spec_request request_{.capacity = 100'000, .error_rate = 1e-12, .partitions = 1};
  random_digests random_{95};
};

TEST_F(StagedRecord, LostBeforeItsScriptIsSentAgain) {
  const auto made = make(request_);
  cutting_proxy proxy(server_.port());
  const auto filter = client_by(proxy);
  for (const std::string_view harm : {"DEL", "SET"}) {
    hold_before_the_script(proxy, *filter);
    const auto keys = random_.take(many);
    auto got = add_beside(*filter, keys);
    lose_what_is_staged(proxy, harm);
    proxy.release();
    EXPECT_EQ(fresh_in(got.get()), many);
    EXPECT_THAT(staged(), IsEmpty());
    EXPECT_EQ(fresh_in(check_keys(*client(), keys)), 0u);
  }
}

TEST_F(StagedRecord, LostBeforeItsScriptThriceIsAnErrorAndNoVerdict) {
  const auto made = make(request_);
  cutting_proxy proxy(server_.port());
  const auto filter = client_by(proxy);
  const std::size_t call = hold_before_the_script(proxy, *filter);
  const std::string end = field("end");
  const auto keys = random_.take(many);
  auto got = std::async(std::launch::async, [&] { return failure_of_add(*filter, keys); });
  for (int i = 0; i < 3; ++i) {
    lose_what_is_staged(proxy, "DEL");
    proxy.hold_after(direction::to_server, call);
  }
  proxy.release();
  const auto told = got.get();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->why, batch_failure::cause::backend);
  EXPECT_THAT(told->message, AllOf(HasSubstr("already lost data"), Not(HasSubstr("but a key"))));
  EXPECT_EQ(field("end"), end);
  EXPECT_EQ(fresh_in(add_keys(*filter, keys)), many);
  EXPECT_EQ(fresh_in(check_keys(*client(), keys)), 0u);
}

TEST_F(StagedRecord, UnusedExpires) {
  const auto made = make(request_);
  cutting_proxy proxy(server_.port());
  const auto filter = client_by(proxy, "/?retry_for=0s&timeout=20s");
  hold_before_the_script(proxy, *filter);
  const auto keys = random_.take(many);
  auto got = std::async(std::launch::async, [&] { return failure_of_add(*filter, keys); });
  wait_until_held(proxy);
  test::wait_until([&] { return staged().size() == 1; }, "it is staged");
  proxy.refuse(true);
  EXPECT_TRUE(got.get());
  const long left = std::stol(server_.run({"PTTL", staged().front()}));
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 60'000);
  EXPECT_EQ(fresh_in(add_keys(*client(), keys)), many) << "they were not added";
}

TEST_F(StagedRecord, IsRemovedWhereOthersWereFaster) {
  const auto made = make(request_);
  const auto beside = client();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(fresh_in(add_keys(*made, random_.take(many))), many);
    EXPECT_EQ(fresh_in(add_keys(*beside, random_.take(many))), many);
  }
  EXPECT_THAT(staged(), IsEmpty());
}

TEST_F(StagedRecord, WithoutRoomOnTheServerIsAnErrorThatSaysSo) {
  const auto filter = make(request_);
  EXPECT_EQ(fresh_in(add_keys(*filter, random_.take(many))), many);
  (void)server_.run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  (void)server_.run({"CONFIG", "SET", "maxmemory", "1"});
  const std::string end = field("end");
  const auto more = random_.take(many);
  const auto told = failure_of_add(*filter, more);
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, AllOf(HasSubstr("maxmemory"), Not(HasSubstr("but a key"))));
  EXPECT_EQ(field("end"), end);
  (void)server_.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(fresh_in(add_keys(*filter, more)), many);
  EXPECT_EQ(fresh_in(check_keys(*client(), more)), 0u);
}

TEST_F(StagedRecord, WithoutTheUsersPermissionIsAnErrorThatSaysSo) {
  const auto filter = make(request_);
  EXPECT_EQ(fresh_in(add_keys(*filter, random_.take(5))), 5u);
  (void)server_.run({"ACL", "SETUSER", "default", "-set"});
  const auto told = failure_of_add(*filter, random_.take(many));
  ASSERT_TRUE(told);
  EXPECT_THAT(told->message, AllOf(HasSubstr("refused"), Not(HasSubstr("but a key"))));
}

TEST_F(StagedRecord, IsResentToAServerThatForgotItsScripts) {
  const auto filter = make(request_);
  for (int i = 0; i < 3; ++i) {
    (void)server_.run({"SCRIPT", "FLUSH"});
    EXPECT_EQ(fresh_in(add_keys(*filter, random_.take(many))), many);
  }
  EXPECT_EQ(test::keys_in(*client()), 3 * many);
  EXPECT_THAT(staged(), IsEmpty());
}

/// Calls as a client makes them, sent by hand.
class LateCopy : public StagedRecord {
 protected:
  struct call {
    std::string number;
    journal_position begin, end;
    std::string record;
  };
  /// The next of this history.
  call next(std::size_t keys) {
    const journal_position from = *parse_journal_position(field("end"));
    call c{std::to_string(++calls_), from, {}, {}};
    c.end.checksum = append_record(
        c.record, {from.checksum, window::timeless, {{window::timeless, keys}}, random_.take(keys)});
    c.end.offset = begin_of_record(from.offset, c.record.size()) + c.record.size();
    return c;
  }
  std::string staged_for(const call& c) { return clicks().staged(0, "late", std::stoull(c.number)); }
  void stage(const call& c) {
    (void)server_.run({"SET", staged_for(c), c.record + next_chunk_mark, "PX", "60000"});
  }
  /// The first reply of the script.
  std::string run(const call& c) {
    return server_
        .run({"EVAL", journal_scripts::append().text, "4", state_key(),
              chunk(c.begin.offset / journal_chunk_bytes), staged_for(c),
              chunk(c.end.offset / journal_chunk_bytes), to_text(c.begin), to_text(c.end), "w:late", c.number,
              std::to_string(c.begin.offset % journal_chunk_bytes), "", "", "",
              std::to_string(c.record.size() + 1)})
        .substr(0, 1);
  }
  std::string whole(std::uint64_t number) { return server_.run({"GETRANGE", chunk(number), "0", "-1"}); }

  int calls_ = 0;
};

TEST_F(LateCopy, OfTheLastCallIsAnsweredAsDoneAndChangesNothing) {
  const auto filter = make(request_);
  answered(add_keys(*filter, random_.take(5)));
  const call once = next(many);
  stage(once);
  ASSERT_EQ(run(once), "K");
  const std::string end = field("end");
  const std::string bytes = whole(1);
  stage(once);
  EXPECT_EQ(run(once), "K");
  EXPECT_EQ(run(once), "K") << "whatever is staged";
  EXPECT_EQ(field("end"), end);
  EXPECT_EQ(whole(1), bytes);
  EXPECT_THAT(staged(), IsEmpty());
  EXPECT_EQ(test::keys_in(*client()), 5 + many);
}

TEST_F(LateCopy, OfAnOlderCallIsRefusedAndTakesNothingButItsOwnBytes) {
  const auto filter = make(request_);
  answered(add_keys(*filter, random_.take(5)));
  const call older = next(many);
  stage(older);
  ASSERT_EQ(run(older), "K");
  const call newer = next(many + 1);
  stage(newer);
  // The whole older call arrives between the two commands of the newer call.
  stage(older);
  EXPECT_EQ(run(older), "K") << "it is still the last finished one";
  EXPECT_EQ(run(newer), "K");
  EXPECT_EQ(whole(1), older.record + next_chunk_mark);
  EXPECT_EQ(whole(2), newer.record + next_chunk_mark);
  stage(older);
  EXPECT_EQ(run(older), "S");
  EXPECT_THAT(staged(), IsEmpty());
  EXPECT_EQ(test::keys_in(*client()), 6 + 2 * many);
  EXPECT_EQ(fresh_in(add_keys(*filter, random_.take(many))), many);
}

TEST_F(LateCopy, WithAScriptButWithoutItsBytesAddsNothing) {
  const auto filter = make(request_);
  answered(add_keys(*filter, random_.take(5)));
  const std::string end = field("end");
  const call lone = next(many);
  EXPECT_EQ(run(lone), "U");
  EXPECT_EQ(field("end"), end);
  EXPECT_EQ(test::keys_in(*client()), 5u);
}

TEST_F(LateCopy, IsRefusedByASealedOrMissingFilter) {
  (void)make(request_);
  const call late = next(many);
  (void)server_.run({"HSET", state_key(), "successor", std::string(16, 'x')});
  stage(late);
  EXPECT_EQ(run(late), "N");
  EXPECT_THAT(staged(), IsEmpty());
  const std::string state = state_key();
  (void)server_.run({"HDEL", state, "end"});
  stage(late);
  EXPECT_EQ(run(late), "M");
  EXPECT_THAT(staged(), IsEmpty());
}

}  // namespace
}  // namespace everseen::redis
