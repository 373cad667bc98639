#include "everseen/wire/request_parser.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everseen::wire {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using outcome = request_parser::outcome;

/// The requests in some bytes, and the rest after them.
struct parsed {
  std::vector<std::vector<std::string>> requests;
  outcome end = outcome::incomplete;
  std::string fault;
  std::size_t unread = 0;
};

parsed parse(std::string_view bytes, const request_limits& limits = {}) {
  request_parser parser(limits);
  parsed p;
  while ((p.end = parser.next(bytes)) == outcome::request) {
    p.requests.emplace_back(parser.words().begin(), parser.words().end());
    bytes.remove_prefix(parser.size());
  }
  p.fault = parser.fault();
  p.unread = bytes.size();
  return p;
}

std::string fault_of(std::string_view bytes, const request_limits& limits = {}) {
  const parsed p = parse(bytes, limits);
  return p.end == outcome::malformed ? p.fault : "no fault";
}

TEST(RequestParser, ReadsAnArrayOfBulkStrings) {
  const parsed p = parse("*3\r\n$6\r\nBF.ADD\r\n$1\r\nx\r\n$5\r\na\r\n\0b\r\n"s);
  EXPECT_THAT(p.requests, ElementsAre(ElementsAre("BF.ADD", "x", "a\r\n\0b"s)));
  EXPECT_EQ(p.unread, 0U);
}

TEST(RequestParser, ReadsPipelinedRequests) {
  EXPECT_THAT(parse("*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n").requests,
              ElementsAre(ElementsAre("PING"), ElementsAre("ECHO", "")));
}

TEST(RequestParser, ReadsALineOfWords) {
  EXPECT_THAT(parse("PING\r\n  ECHO   hello\n").requests,
              ElementsAre(ElementsAre("PING"), ElementsAre("ECHO", "hello")));
}

TEST(RequestParser, ReadsQuotedWordsOfALine) {
  EXPECT_THAT(parse("ECHO \"a b\\n\\x41\\\"\" 'it\\'s \\n'\r\n").requests,
              ElementsAre(ElementsAre("ECHO", "a b\nA\"", "it's \\n")));
}

TEST(RequestParser, SkipsEmptyRequests) {
  EXPECT_THAT(parse("\r\n*0\r\n*-1\r\nPING\r\n").requests,
              ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), ElementsAre("PING")));
}

TEST(RequestParser, LeavesAnIncompleteRequestUnread) {
  const parsed p = parse("PING\r\n*1\r\n$4\r\nPI");
  EXPECT_EQ(p.end, outcome::incomplete);
  EXPECT_EQ(p.unread, 10U);
}

TEST(RequestParser, ReportsTheNumberOfBytesAWordNeeds) {
  request_parser parser({});
  EXPECT_EQ(parser.next("*1\r\n$1000\r\nx"), outcome::incomplete);
  EXPECT_EQ(parser.needed(), 4U + 7U + 1000U + 2U);
}

TEST(RequestParser, RebasesWordsAfterTheirMemoryMoved) {
  const std::string bytes = "*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n";
  request_parser parser({});
  const std::string first = bytes.substr(0, 16);
  ASSERT_EQ(parser.next(first), outcome::incomplete);
  const std::string moved = bytes;
  ASSERT_EQ(parser.next(moved), outcome::request);
  EXPECT_THAT(parser.words(), ElementsAre("ECHO", "hello"));
  EXPECT_GE(parser.words()[0].data(), moved.data());
  EXPECT_LT(parser.words()[0].data(), moved.data() + moved.size());
}

TEST(RequestParser, ReturnsTheSameRequestFromTheSameBytes) {
  const std::string bytes = "*1\r\n$4\r\nPING\r\n";
  request_parser parser({});
  ASSERT_EQ(parser.next(bytes), outcome::request);
  ASSERT_EQ(parser.next(bytes), outcome::request);
  EXPECT_THAT(parser.words(), ElementsAre("PING"));
}

TEST(RequestParser, RefusesInvalidRequestsWithRedisErrorMessages) {
  EXPECT_EQ(fault_of("*1\r\n:4\r\n"), "ERR Protocol error: expected '$', got ':'");
  EXPECT_EQ(fault_of("*x\r\n"), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(fault_of("*1\r\n$-1\r\n"), "ERR Protocol error: invalid bulk length");
  EXPECT_EQ(fault_of("*1\r\n$4\r\nPINGxx"), "ERR Protocol error: invalid bulk length");
  EXPECT_EQ(fault_of("ECHO \"a\r\n"), "ERR Protocol error: unbalanced quotes in request");
  EXPECT_EQ(fault_of("ECHO \"a\"b\r\n"), "ERR Protocol error: unbalanced quotes in request");
}

TEST(RequestParser, RefusesNumbersThatWouldOverflow) {
  EXPECT_EQ(fault_of("*99999999999999999999\r\n"), "ERR Protocol error: invalid multibulk length");
  EXPECT_EQ(fault_of("*1\r\n$18446744073709551617\r\n"), "ERR Protocol error: invalid bulk length");
}

TEST(RequestParser, EnforcesItsLimitsBeforeTheDataArrives) {
  EXPECT_THAT(fault_of("*11\r\n", {.arguments = 10}), HasSubstr("multibulk length"));
  EXPECT_THAT(fault_of("*1\r\n$11\r\n", {.argument_bytes = 10}), HasSubstr("bulk length"));
  EXPECT_THAT(fault_of("*2\r\n$9\r\n123456789\r\n$9\r\n", {.request_bytes = 30}),
              HasSubstr("too big request"));
  EXPECT_THAT(fault_of("a line that does not end", {.inline_bytes = 10}),
              HasSubstr("too big inline request"));
}

}  // namespace
}  // namespace everseen::wire
