#include "everseen/server/base/options.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen::server {
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

}  // namespace
}  // namespace everseen::server
