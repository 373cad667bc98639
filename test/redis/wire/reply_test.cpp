#include "everseen/redis/wire/reply.hpp"

#include <string>

#include <gtest/gtest.h>

#include "test/redis/wire/reply_text.hpp"

namespace everseen::redis {
namespace {

using kind = reply::kind;

TEST(Reply, IsWhatTheServerSent) {
  EXPECT_EQ(reply_of("+OK\r\n").what(), kind::status);
  EXPECT_EQ(reply_of("+OK\r\n").text(), "OK");
  EXPECT_EQ(reply_of(":-7\r\n").integer(), -7);
  EXPECT_EQ(reply_of("$3\r\na\r\n\r\n").text(), "a\r\n");
  EXPECT_TRUE(reply_of("$-1\r\n").is_nil());
  EXPECT_TRUE(reply_of("*-1\r\n").is_nil());
  EXPECT_EQ(reply_of("*0\r\n").what(), kind::array);
  EXPECT_EQ(reply_of("*0\r\n").size(), 0U);
  EXPECT_TRUE(reply().is_nil());
}

TEST(Reply, ReturnsNothingForAnotherKind) {
  EXPECT_EQ(reply_of(":7\r\n").text(), "");
  EXPECT_EQ(reply_of("$1\r\n7\r\n").integer(), 0);
  EXPECT_EQ(reply_of("$1\r\n7\r\n").size(), 0U);
  EXPECT_FALSE(reply_of("+MOVED\r\n").is_error("MOVED"));
}

TEST(Reply, IsNilAfterItsEnd) {
  const reply two = reply_of("*2\r\n:1\r\n:2\r\n");
  EXPECT_EQ(two[1].integer(), 2);
  EXPECT_TRUE(two[2].is_nil());
  EXPECT_TRUE(reply_of(":7\r\n")[0].is_nil());
}

TEST(Reply, ErrorIsIdentifiedByItsFirstWord) {
  EXPECT_TRUE(reply_of("-OOM command not allowed\r\n").is_error("OOM"));
  EXPECT_TRUE(reply_of("-NOSCRIPT\r\n").is_error("NOSCRIPT"));
  EXPECT_FALSE(reply_of("-BUSYKEY exists\r\n").is_error("BUSY"));
}

TEST(Reply, ElementsOfATemporaryKeepTheirTree) {
  const reply inner = reply_of("*2\r\n:1\r\n*1\r\n$2\r\nhi\r\n")[1];
  EXPECT_EQ(inner[0].text(), "hi");
}

TEST(ReplyReader, ReadsByteByByteAndManyBytesTogether) {
  const std::string wire = "*2\r\n$1\r\na\r\n:5\r\n+OK\r\n-ERR x\r\n";
  for (std::size_t step : {std::size_t{1}, std::size_t{3}, wire.size()}) {
    reply_reader reader;
    std::size_t replies = 0;
    for (std::size_t offset = 0; offset < wire.size(); offset += step) {
      reader.feed(std::string_view(wire).substr(offset, step));
      for (auto r = reader.next(); *r; r = reader.next()) ++replies;
    }
    EXPECT_EQ(replies, 3U);
  }
}

std::string fault_in(std::string_view wire, const reply_limits& limits = {}) {
  reply_reader reader(limits);
  reader.feed(wire);
  const auto read = reader.next();
  return read ? "" : read.error();
}

TEST(ReplyReader, RefusesBytesOutsideTheProtocol) {
  EXPECT_NE(fault_in("HTTP/1.1 400 Bad Request\r\n"), "");
  EXPECT_NE(fault_in("$abc\r\n"), "");
  EXPECT_NE(fault_in(":12a\r\n"), "");
  EXPECT_NE(fault_in("*-2\r\n"), "");
  EXPECT_NE(fault_in("$99999999999999999999\r\n"), "");
}

TEST(ReplyReader, RefusesDeepNesting) {
  std::string wire;
  for (int i = 0; i < 20; ++i) wire += "*1\r\n";
  EXPECT_NE(fault_in(wire), "");
}

TEST(ReplyReader, AllocatesNoMemoryForElementsThatNeverArrive) {
  EXPECT_NE(fault_in("*2147483647\r\n"), "");
  EXPECT_NE(fault_in("*11\r\n", {.elements = 10}), "");
  EXPECT_EQ(fault_in("*10\r\n", {.elements = 10}), "");
}

TEST(ReplyReader, RefusesAnEndlessReply) {
  EXPECT_NE(fault_in("+" + std::string(1001, 'x'), {.bytes = 1000}), "");
  EXPECT_NE(fault_in("$5000\r\n" + std::string(1000, 'x'), {.bytes = 1000}), "");
}

TEST(ReplyReader, LimitAppliesToEachReplyAndNotToAll) {
  reply_reader reader({.bytes = 100});
  for (int i = 0; i < 100; ++i) {
    reader.feed("$50\r\n" + std::string(50, 'x') + "\r\n");
    ASSERT_TRUE(reader.next().value());
  }
}

}  // namespace
}  // namespace everseen::redis
