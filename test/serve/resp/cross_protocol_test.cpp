#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/serve/resp/session.hpp"

namespace everseen::serve {
namespace {

using line = std::vector<std::string_view>;

TEST(CrossProtocol, RecognizesTheFirstLinesOfBrowserRequests) {
  for (const line& each : {line{"POST", "/", "HTTP/1.1"}, line{"post"}, line{"GET", "/a", "HTTP/1.1"},
                           line{"Options", "*", "http/1.0"}, line{"Host:", "x"}, line{"HOST:x"}})
    EXPECT_TRUE(is_of_http(each)) << each.front();
}

TEST(CrossProtocol, LeavesTypedLinesAlone) {
  for (const line& each : {line{}, line{"PING"}, line{"BF.ADD", "seen", "HTTP/1.1"}, line{"GET", "key"},
                           line{"POSTS"}, line{"HOST"}, line{"PO"}, line{"GET", "a", "http"}})
    EXPECT_FALSE(is_of_http(each));
}

}  // namespace
}  // namespace everseen::serve
