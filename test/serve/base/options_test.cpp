#include "everseen/serve/base/options.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

namespace {

options with_http(const char* where) {
  options o;
  o.listen = {parse_listen_address("127.0.0.1:6380")};
  o.http = {parse_listen_address(where)};
  return o;
}

TEST(Options, TreatAProxyAsRemoteAccess) {
  EXPECT_FALSE(is_open_to_others(with_http("127.0.0.1:8080")));
  EXPECT_TRUE(is_open_to_others(with_http("unix:/run/everseen.sock")));
  options o = with_http("127.0.0.1:8080");
  o.users = {{"app", "word"}};
  EXPECT_TRUE(is_open_to_others(o)) << "programs of one machine need no passwords";
  o.http.clear();
  EXPECT_FALSE(is_open_to_others(o));
}

TEST(Options, LeaveRoomForTheWordsOfTheLongestRequest) {
  options o = with_http("127.0.0.1:8080");
  o.requests_bytes = 2 * o.request.request_bytes;
  EXPECT_NO_THROW(must_be_safe(o));
  o.requests_bytes -= 2;
  EXPECT_THROW(must_be_safe(o), parameter_error);
}

TEST(ListenAddress, IsWrittenAsItIsRead) {
  for (const char* text : {"127.0.0.1:6380", "[::1]:6380", "tls:0.0.0.0:0", "unix:/run/everseen.sock"})
    EXPECT_EQ(parse_listen_address(text).text(), text);
  EXPECT_EQ(parse_listen_address("localhost:1").text(), "127.0.0.1:1");
  EXPECT_EQ(parse_listen_address("*:1").text(), "0.0.0.0:1");
}

TEST(ListenAddress, ReportsWhetherOnlyThisMachineReachesIt) {
  for (const char* text : {"127.0.0.1:1", "127.3.2.1:1", "[::1]:1", "unix:/s"})
    EXPECT_TRUE(parse_listen_address(text).is_local()) << text;
  for (const char* text : {"0.0.0.0:1", "[::]:1", "tls:192.0.2.1:1"})
    EXPECT_FALSE(parse_listen_address(text).is_local()) << text;
}

TEST(ListenAddress, RefusesInvalidAddresses) {
  for (const char* text : {"", "6380", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "host.test:1", "unix:"})
    EXPECT_THROW((void)parse_listen_address(text), parameter_error) << text;
}

}  // namespace

}  // namespace everseen::serve
