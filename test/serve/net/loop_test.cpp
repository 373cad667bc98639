#include <future>
#include <new>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include "everseen/serve/net/asio_loop.hpp"

namespace everseen::serve {
namespace {

TEST(Loop, ContinuesAfterAHandlerWithASystemError) {
  loop one;
  std::promise<void> done;
  boost::asio::post(one.context(), [] {
    throw boost::system::system_error(
        boost::asio::error::make_error_code(boost::asio::error::no_descriptors));
  });
  boost::asio::post(one.context(), [&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  one.finish();
}

TEST(LoopDeathTest, EndsTheProcessWhenMemoryRunsOutSoThatNobodyWaitsIndefinitely) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        loop one;
        boost::asio::post(one.context(), [] { throw std::bad_alloc(); });
        one.finish();
      },
      "bad_alloc");
}

}  // namespace
}  // namespace everseen::serve
