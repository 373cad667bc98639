#include "everseen/server/base/listen_address.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen::server {
namespace {

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
}  // namespace everseen::server
