#include "everseen/wire/reply_writer.hpp"

#include <string>

#include <gtest/gtest.h>

namespace everseen::wire {
namespace {

template <typename Write>
std::string written(protocol version, Write write) {
  std::string bytes;
  reply_writer writer(bytes, version);
  write(writer);
  return bytes;
}

template <typename Write>
void expect_reply(Write write, const std::string& resp2, const std::string& resp3) {
  EXPECT_EQ(written(protocol::resp2, write), resp2);
  EXPECT_EQ(written(protocol::resp3, write), resp3);
}

TEST(ReplyWriter, WritesRepliesThatBothVersionsShare) {
  expect_reply([](reply_writer& writer) { writer.ok(); }, "+OK\r\n", "+OK\r\n");
  expect_reply([](reply_writer& writer) { writer.integer(-42); }, ":-42\r\n", ":-42\r\n");
  expect_reply([](reply_writer& writer) { writer.bulk("a\r\nb"); }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n");
  expect_reply([](reply_writer& writer) { writer.array(2); }, "*2\r\n", "*2\r\n");
}

TEST(ReplyWriter, UsesTheTypesForBooleansMapsAndNullInResp3Only) {
  expect_reply([](reply_writer& writer) { writer.truth(true); }, ":1\r\n", "#t\r\n");
  expect_reply([](reply_writer& writer) { writer.truth(false); }, ":0\r\n", "#f\r\n");
  expect_reply([](reply_writer& writer) { writer.map(3); }, "*6\r\n", "%3\r\n");
  expect_reply([](reply_writer& writer) { writer.set(3); }, "*3\r\n", "~3\r\n");
  expect_reply([](reply_writer& writer) { writer.null(); }, "$-1\r\n", "_\r\n");
  expect_reply([](reply_writer& writer) { writer.real(0.01); }, "$4\r\n0.01\r\n", ",0.01\r\n");
  expect_reply([](reply_writer& writer) { writer.text("a\nb\n"); }, "$4\r\na\nb\n\r\n",
               "=8\r\ntxt:a\nb\n\r\n");
}

TEST(ReplyWriter, KeepsAnErrorOnOneLine) {
  expect_reply([](reply_writer& writer) { writer.error("ERR a\r\n+OK"); }, "-ERR a  +OK\r\n",
               "-ERR a  +OK\r\n");
}

}  // namespace
}  // namespace everseen::wire
