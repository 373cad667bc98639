#include "everseen/redis/transport/call.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/wire/command.hpp"

#include "test/redis/wire/reply_text.hpp"

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
}

TEST(Refusal, KnowsRedirections) {
  EXPECT_EQ(refusal_of(reply_of("-MOVED 3999 127.0.0.1:6381\r\n"), from)->target,
            (endpoint{"127.0.0.1", 6381}));
  EXPECT_EQ(refusal_of(reply_of("-MOVED 3999 :6381\r\n"), from)->target, (endpoint{"h", 6381}));
  EXPECT_EQ(refusal_of(reply_of("-ASK 3999 ::1:6381\r\n"), from)->target, (endpoint{"::1", 6381}));
  EXPECT_EQ(refusal_of(reply_of("-ASK 3999 a:1\r\n"), from)->why, refusal::kind::ask);
  for (const char* broken :
       {"-MOVED\r\n", "-MOVED 1\r\n", "-MOVED 16384 a:1\r\n", "-MOVED 1 a:0\r\n", "-MOVED 1 a\r\n"})
    EXPECT_FALSE(refusal_of(reply_of(broken), from)) << broken;
}

refusal::kind kind_of(const char* error) {
  const auto refused = refusal_of(reply_of(error), from);
  return refused ? refused->why : refusal::kind::no_script;
}

TEST(Refusal, IsTemporaryWhereAServerTakesNoWritesForNow) {
  EXPECT_EQ(kind_of("-NOREPLICAS Not enough good replicas to write.\r\n"), refusal::kind::not_master);
  EXPECT_EQ(kind_of("-READONLY You can't write against a read only replica.\r\n"), refusal::kind::not_master);
  EXPECT_EQ(kind_of("-MISCONF Redis is configured to save RDB snapshots, but it's unable to\r\n"),
            refusal::kind::later);
}

TEST(Refusal, IsFoundBehindTheWordsThatServersBeforeRedis7PutBeforeAnErrorOfAScript) {
  const std::string script =
      "-ERR Error running script (call to f_" + std::string(40, '7') + "): @user_script:6: @user_script: 6: ";
  const auto kind_inside = [&](const std::string& error) { return kind_of((script + error).c_str()); };
  EXPECT_EQ(kind_inside("-READONLY You can't write against a read only replica.\r\n"),
            refusal::kind::not_master);
  EXPECT_EQ(kind_inside("-MISCONF Redis is configured to save RDB snapshots, but\r\n"), refusal::kind::later);
  for (const char* answer : {"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                             "-WRONGTYPE Operation against a key\r\n", "attempt to index nil: READONLY\r\n"})
    EXPECT_FALSE(refusal_of(reply_of(script + answer), from)) << answer;
  EXPECT_FALSE(
      refusal_of(reply_of("-ERR unknown command 'x', with args beginning with: ': -READONLY '\r\n"), from))
      << "words of a client";
}

TEST(Refusal, DoesNotIncludeErrorsThatAreAnswers) {
  for (const char* answer : {"-WRONGTYPE x\r\n", "-NOSCRIPT x\r\n", "-OOM x\r\n", "-ERR x\r\n",
                             "-NOPERM x\r\n", "+MOVED 1 a:1\r\n"})
    EXPECT_FALSE(refusal_of(reply_of(answer), from)) << answer;
}

TEST(Job, IsDoneWhenNothingWasRefused) {
  const request r{{}, set_a + get_b, 2, false};
  call c(r);
  EXPECT_EQ(c.wire(), r.wire);
  EXPECT_EQ(c.commands(), 2U);
  EXPECT_FALSE(c.process_replies(replies({"+OK\r\n", "$-1\r\n"}), from));
  EXPECT_EQ(c.take_replies().size(), 2U);
}

TEST(Job, RequestsPermissionForEachRefusedCommand) {
  const request r{{}, set_a + get_b, 2, true};
  call c(r);
  ASSERT_TRUE(c.process_replies(replies({"+OK\r\n", "-ASK 1 a:1\r\n"}), from));
  EXPECT_TRUE(c.may_have_run);
  c.ask_for_permission();
  EXPECT_EQ(c.wire(), asking + get_b)
      << "at its destination, the key of the other one would seem to be missing";
  EXPECT_EQ(c.commands(), 2U);
  ASSERT_TRUE(c.process_replies(replies({"+OK\r\n", "-TRYAGAIN x\r\n"}), from));
  EXPECT_EQ(c.wire(), r.wire);
  EXPECT_FALSE(c.process_replies(replies({"+OK\r\n", "$1\r\nb\r\n"}), from));
  const auto all = c.take_replies();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].text(), "b");
}

TEST(Job, RefusedHasNotRun) {
  const request r{{}, set_a + get_b, 2, false};
  call c(r, set_a, 1);
  ASSERT_TRUE(c.process_replies(replies({"-MOVED 1 a:1\r\n"}), from));
  EXPECT_FALSE(c.may_have_run);
  EXPECT_EQ(c.wire(), set_a);
}

TEST(Job, SendsTheTextOfAScriptToAServerWithoutIt) {
  const script s{"return 1", std::string(40, 'a')};
  const std::string by_name = encode_call(s, std::vector<std::string>{"{t}a"}, {});
  const std::string by_text = encode({"EVAL", "return 1", "1", "{t}a"});
  request r{{}, set_a + by_name + by_name, 3, true};
  r.called = &s;
  call c(r);
  EXPECT_EQ(c.process_replies(replies({"+OK\r\n", "-NOSCRIPT x\r\n", "-NOSCRIPT x\r\n"}), from)->why,
            refusal::kind::no_script);
  EXPECT_EQ(c.wire(), set_a + by_text + by_name);
  ASSERT_TRUE(c.process_replies(replies({"+OK\r\n", "-ASK 1 a:1\r\n", "-ASK 1 a:1\r\n"}), from));
  EXPECT_EQ(c.wire(), set_a + by_text + by_name) << "the next server may not know it either";
  EXPECT_FALSE(c.process_replies(replies({"+OK\r\n", ":1\r\n", ":1\r\n"}), from));
}

bool waits_for_replicas(std::initializer_list<const char*> wires) {
  request r{{}, set_a, 1, false};
  for (std::size_t i = 1; i < wires.size(); ++i) r.wire += set_a, ++r.commands;
  r.on_replicas = true;
  call c(r);
  EXPECT_FALSE(c.process_replies(replies(wires), from));
  return c.waits_for_replicas();
}

TEST(Job, WaitsForReplicasAfterItsWrites) {
  EXPECT_TRUE(waits_for_replicas({"$1\r\n0\r\n"}));
  EXPECT_TRUE(waits_for_replicas({"*1\r\n:0\r\n", "-OOM command not allowed\r\n"})) << "a pipeline";
  EXPECT_FALSE(waits_for_replicas({"-NOSCRIPT No matching script\r\n"}));
  const request of_no_replicas{{}, set_a, 1, false};
  call c(of_no_replicas);
  EXPECT_FALSE(c.process_replies(replies({"$1\r\n0\r\n"}), from));
  EXPECT_FALSE(c.waits_for_replicas());
}

}  // namespace
}  // namespace everseen::redis
