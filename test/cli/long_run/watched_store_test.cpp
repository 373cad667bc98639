#include <gtest/gtest.h>

#include "everseen/cli/long_run/outage_watch.hpp"
#include "everseen/open_store.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen::cli {
namespace {

class some_policy final : public retry_policy {
 public:
  bool tries_again(const outage& /*now*/) override { return false; }
  void on_recovered() override {}
};

TEST(WatchedStore, WaitsAsBeforeAfterwards) {
  const auto before = std::make_shared<some_policy>(), meanwhile = std::make_shared<some_policy>();
  const auto place = open_store("redis://127.0.0.1:1");  // which is never called
  place->wait_with(before);
  {
    const watched_store watched(*place, meanwhile);
    EXPECT_EQ(place->wait_with(meanwhile), meanwhile);
  }
  EXPECT_EQ(place->wait_with(nullptr), before);
}

TEST(WatchedStore, ThatIsLocalWaitsForOtherWritersAsItWasTold) {
  const test::scratch_directory scratch;
  const auto told = std::make_shared<some_policy>();
  const auto place = open_store("file:" + scratch.path().string());
  place->wait_with(told);
  {
    const watched_store watched(*place, std::make_shared<some_policy>());
    EXPECT_EQ(place->wait_with(told), told);
  }
  EXPECT_EQ(place->wait_with(nullptr), told);
}

}  // namespace
}  // namespace everseen::cli
