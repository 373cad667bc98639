#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "everseen/open_store.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

#include "test/support/redis_server.hpp"

namespace everseen::serve {
namespace {

std::string answer_to(session& asked, std::string_view request) {
  (void)asked.run(request);
  return std::exchange(asked.output(), {});
}

// Promise: a BGSAVE during another one is an error, as in Redis (operations, Durability).
TEST(BackgroundSave, IsRefusedWhileAnotherOneWaits) {
  service all(options{.store_threads = 1}, open_store("mem:"));
  session one(all, std::make_shared<client>(), [] {});
  std::promise<void> end;
  const std::shared_future<void> has_ended = end.get_future().share();
  for (int i = 0; i < 10; ++i)
    all.workers().submit([has_ended] { has_ended.wait(); });  // more than there are
  const std::string started = "+Background saving started\r\n";
  EXPECT_EQ(
      answer_to(one, "BGSAVE\r\nBGSAVE\r\nBGSAVE SCHEDULE\r\n"),
      started + "-ERR Background save already in progress\r\n-ERR Background save already in progress\r\n");
  end.set_value();
  test::wait_until([&] { return answer_to(one, "BGSAVE\r\n") == started; }, "the first one ends");
}

}  // namespace
}  // namespace everseen::serve
