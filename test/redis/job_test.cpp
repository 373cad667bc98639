#include "everseen/redis/transport/job.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/command.hpp"

#include "test/redis/reply_text.hpp"

namespace everseen::redis {
namespace {

const endpoint from{"h", 1};
const std::string set_a = encode({"SET", "{t}a", "1"});
const std::string get_b = encode({"GET", "{t}b"});
const std::string asking = encode({"ASKING"});

std::vector<reply> replies(std::initializer_list<const char*> wires) {
  std::vector<reply> all;
  for (const char* wire : wires) all.push_back(reply_of(wire));
  return all;
}

TEST(Command, SplitsAWireIntoItsCommands) {
  EXPECT_THAT(split_commands(set_a + get_b), ::testing::ElementsAre(set_a, get_b));
  EXPECT_THAT(split_commands(""), ::testing::IsEmpty());
  EXPECT_EQ(name_of(get_b), "GET");
}

TEST(Refusal, KnowsRedirections) {
  EXPECT_EQ(refusal_of(reply_of("-MOVED 3999 127.0.0.1:6381\r\n"), from)->to, (endpoint{"127.0.0.1", 6381}));
  EXPECT_EQ(refusal_of(reply_of("-MOVED 3999 :6381\r\n"), from)->to, (endpoint{"h", 6381}));
  EXPECT_EQ(refusal_of(reply_of("-ASK 3999 ::1:6381\r\n"), from)->to, (endpoint{"::1", 6381}));
  EXPECT_EQ(refusal_of(reply_of("-ASK 3999 a:1\r\n"), from)->why, refusal::kind::ask);
  for (const char* broken :
       {"-MOVED\r\n", "-MOVED 1\r\n", "-MOVED 16384 a:1\r\n", "-MOVED 1 a:0\r\n", "-MOVED 1 a\r\n"})
    EXPECT_FALSE(refusal_of(reply_of(broken), from)) << broken;
}

TEST(Refusal, ErrorsThatAreAnswersAreNone) {
  for (const char* answer : {"-WRONGTYPE x\r\n", "-NOSCRIPT x\r\n", "-OOM x\r\n", "-ERR x\r\n",
                             "-NOPERM x\r\n", "+MOVED 1 a:1\r\n"})
    EXPECT_FALSE(refusal_of(reply_of(answer), from)) << answer;
}

TEST(Job, IsDoneWhenNothingWasRefused) {
  const request r{{}, set_a + get_b, 2, false};
  job j(r);
  EXPECT_EQ(j.wire(), r.wire);
  EXPECT_EQ(j.commands(), 2U);
  EXPECT_FALSE(j.take(replies({"+OK\r\n", "$-1\r\n"}), from));
  EXPECT_EQ(j.take_replies().size(), 2U);
}

TEST(Job, SendsOnlyRefusedCommandsAgainIfNotRepeatable) {
  const request r{{}, set_a + get_b, 2, false};
  job j(r);
  ASSERT_TRUE(j.take(replies({"+OK\r\n", "-ASK 1 a:1\r\n"}), from));
  EXPECT_EQ(j.wire(), get_b);
  j.ask_for_permission();
  EXPECT_EQ(j.wire(), asking + get_b);
  EXPECT_EQ(j.commands(), 2U);
  EXPECT_FALSE(j.take(replies({"+OK\r\n", "$1\r\nb\r\n"}), from));
  EXPECT_TRUE(j.may_have_run);
  const auto all = j.take_replies();
  EXPECT_EQ(all[0].text(), "OK");
  EXPECT_EQ(all[1].text(), "b");
}

TEST(Job, SendsAllAgainIfRepeatable) {
  const request r{{}, set_a + get_b, 2, true};
  job j(r);
  ASSERT_TRUE(j.take(replies({"+OK\r\n", "-MOVED 1 a:1\r\n"}), from));
  EXPECT_EQ(j.wire(), r.wire);
}

bool waits_for_replicas(std::initializer_list<const char*> wires) {
  request r{{}, set_a, 1, false};
  for (std::size_t i = 1; i < wires.size(); ++i) r.wire += set_a, ++r.commands;
  r.on_replicas = true;
  job j(r);
  EXPECT_FALSE(j.take(replies(wires), from));
  return j.waits_for_replicas();
}

TEST(Job, WaitsForReplicasWhereItDidSomething) {
  EXPECT_TRUE(waits_for_replicas({"$1\r\n0\r\n"}));
  EXPECT_TRUE(waits_for_replicas({"*1\r\n:0\r\n", "-OOM command not allowed\r\n"})) << "a pipeline";
  EXPECT_FALSE(waits_for_replicas({"-NOSCRIPT No matching script\r\n"}));
  const request of_no_replicas{{}, set_a, 1, false};
  job j(of_no_replicas);
  EXPECT_FALSE(j.take(replies({"$1\r\n0\r\n"}), from));
  EXPECT_FALSE(j.waits_for_replicas());
}

TEST(Job, TransactionIsRefusedAsAWhole) {
  const request r{{}, encode({"MULTI"}) + set_a + encode({"EXEC"}), 3, false};
  job j(r);
  ASSERT_TRUE(j.take(replies({"+OK\r\n", "-ASK 1 a:1\r\n", "-EXECABORT x\r\n"}), from));
  EXPECT_EQ(j.wire(), r.wire);
  j.ask_for_permission();
  EXPECT_EQ(j.wire(), asking + r.wire);
  EXPECT_EQ(j.commands(), 4U);
  EXPECT_FALSE(j.take(replies({"+OK\r\n", "+OK\r\n", "+QUEUED\r\n", "*1\r\n+OK\r\n"}), from));
  EXPECT_EQ(j.take_replies().size(), 3U);
}

const std::string guard_a = encode({"WATCH", "{t}a"}) + encode({"GET", "{t}a"});
const request guarded{{}, guard_a + encode({"MULTI"}) + set_a + get_b + encode({"EXEC"}), 6, false};

TEST(Job, TransactionThatWasRefusedIsSentAgainWithItsGuard) {
  job j(guarded);
  ASSERT_TRUE(j.take(replies({"-MOVED 1 a:1\r\n", "-MOVED 1 a:1\r\n", "+OK\r\n", "-MOVED 1 a:1\r\n",
                              "-MOVED 1 a:1\r\n", "-EXECABORT x\r\n"}),
                     from));
  EXPECT_EQ(j.wire(), guarded.wire);
  EXPECT_EQ(j.commands(), guarded.commands);
  EXPECT_FALSE(j.may_have_run);
}

TEST(Job, TransactionWhoseExecAloneWasRefusedIsSentAgainFromItsGuardOn) {
  for (const char* refused : {"-TRYAGAIN x\r\n", "-MOVED 1 a:1\r\n", "-ASK 1 a:1\r\n"}) {
    job j(guarded);
    ASSERT_TRUE(
        j.take(replies({"+OK\r\n", "$1\r\na\r\n", "+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", refused}), from));
    EXPECT_EQ(j.wire(), guarded.wire);
    EXPECT_FALSE(j.may_have_run);
  }
}

TEST(Job, TransactionThatADemotedMasterRefusedHasNotRun) {
  const request r{{}, encode({"MULTI"}) + set_a + get_b + encode({"EXEC"}), 4, false};
  job j(r);
  const auto why = j.take(replies({"+OK\r\n", "-READONLY x\r\n", "+QUEUED\r\n", "-EXECABORT x\r\n"}), from);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, refusal::kind::not_master);
  EXPECT_FALSE(j.may_have_run);
  EXPECT_EQ(j.wire(), r.wire);
}

TEST(Job, TransactionThatRanIsAnsweredThoughItsGuardWasRefused) {
  for (const char* told : {"*2\r\n+OK\r\n$1\r\nb\r\n", "*-1\r\n"}) {
    job j(guarded);
    EXPECT_FALSE(
        j.take(replies({"+OK\r\n", "-ASK 1 a:1\r\n", "+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", told}), from));
    const auto all = j.take_replies();
    EXPECT_TRUE(all[1].is_error("ASK"));
    EXPECT_EQ(all.size(), 6U);
  }
}

TEST(Job, TransactionWaitsWhileItsKeysAreOnTwoServers) {
  job j(guarded);
  const auto why = j.take(replies({"-ASK 1 a:1\r\n", "-ASK 1 a:1\r\n", "+OK\r\n", "-ASK 1 a:1\r\n",
                                   "+QUEUED\r\n", "-EXECABORT x\r\n"}),
                          from);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, refusal::kind::later);
}

TEST(Job, TransactionFollowsItsKeysWhenAllHaveLeft) {
  job j(guarded);
  const auto why = j.take(replies({"-ASK 1 a:1\r\n", "-ASK 1 a:1\r\n", "+OK\r\n", "-ASK 1 a:1\r\n",
                                   "-ASK 1 a:1\r\n", "-EXECABORT x\r\n"}),
                          from);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, refusal::kind::ask);
}

TEST(Job, AsksForPermissionForEveryCommandInFrontOfATransaction) {
  const std::string watch = encode({"WATCH", "{t}a"});
  const std::string rest = encode({"MULTI"}) + set_a + encode({"EXEC"});
  const request r{{}, watch + rest, 4, false};
  job j(r);
  ASSERT_TRUE(j.take(replies({"-ASK 1 a:1\r\n", "+OK\r\n", "-ASK 1 a:1\r\n", "-EXECABORT x\r\n"}), from));
  j.ask_for_permission();
  EXPECT_EQ(j.wire(), asking + watch + asking + rest);
}

}  // namespace
}  // namespace everseen::redis
