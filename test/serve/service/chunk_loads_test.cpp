#include "everseen/serve/service/chunk_loads.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "everseen/open_store.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen::serve {
namespace {

/// The loaded chunks, and their store.
class ChunkLoads : public ::testing::Test {
 protected:
  void begin(const std::string& key) {
    memory_store place;
    spec_request r;
    r.layout = layout_kind::redisbloom;
    filter source("f", place.create("f", place.plan(r)));
    (void)source.add("x");
    const filter_chunk header = dump_chunk(source, 0);
    all_.loads().take(all_.filters(), key, header.iterator,
                      {reinterpret_cast<const char*>(header.bytes.data()), header.bytes.size()});
  }
  [[nodiscard]] std::uint64_t taken() { return all_.filters().bytes(); }

  service all_{options{}, open_store("mem:")};
};

TEST_F(ChunkLoads, AbandonedLoadsReleaseTheirRoom) {
  const auto before = chunk_loads::clock::now();
  begin("a");
  ASSERT_GT(taken(), 0U);
  all_.loads().forget_before(before);
  EXPECT_GT(taken(), 0U) << "its time has not expired";
  all_.loads().forget_before(chunk_loads::clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(taken(), 0U);
}

TEST_F(ChunkLoads, ReleaseTheirRoomWhenTheirKeyIsDropped) {
  begin("a");
  EXPECT_FALSE(all_.drop("a")) << "there is no filter yet";
  EXPECT_EQ(taken(), 0U);
}

}  // namespace
}  // namespace everseen::serve
