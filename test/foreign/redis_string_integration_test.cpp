// Bits as a real Redis numbers them: a string made by SETBIT equals ours byte for byte.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/guava/guava.hpp"

#include "test/support/model/guava_filter.hpp"
#include "test/support/model/redisbloom_chain.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::foreign {
namespace {

using numbers = std::vector<std::uint64_t>;

class RedisString : public testing::Test {
 protected:
  void set_bit(std::uint64_t position, bool value = true) const {
    server_.run({"SETBIT", "bits", std::to_string(position), value ? "1" : "0"});
  }
  [[nodiscard]] std::string string() const { return server_.run({"GET", "bits"}); }
  [[nodiscard]] std::string count() const { return server_.run({"BITCOUNT", "bits"}); }

 private:
  test::redis_server server_;
};

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(RedisString, OfGuavaIsItsFilterInMemory) {
  guava::filter filter(guava::smallest(guava::strategy::mitz_64, 50, 0.03));
  set_bit(filter.get_shape().bits() - 1, false);  // as the Java version begins a string
  for (int i = 0; i < 20; ++i) {
    const std::string key = "key " + std::to_string(i);
    filter.add(key);
    numbers places(filter.get_shape().probes);
    guava::positions(guava::strategy::mitz_64, murmur3_x64_128(key), filter.get_shape().bits(), places);
    for (const std::uint64_t p : places) set_bit(p);
  }
  EXPECT_TRUE(string() == text(filter.bits()));
}

TEST_F(RedisString, OfGuavasStreamHasEachBitAtXor63) {
  guava::filter filter({guava::strategy::mitz_64, 5, 4});
  filter.add("key");
  numbers places(5);
  guava::positions(guava::strategy::mitz_64, murmur3_x64_128("key"), 256, places);
  set_bit(255, false);
  for (const std::uint64_t p : places) set_bit(p ^ 63);
  const std::vector<std::byte> stream = guava::encode(filter);
  EXPECT_TRUE(string() == text(std::span(stream).subspan(guava::stream_header_bytes)));
}

TEST_F(RedisString, OfRedisBloomHasEachBitAtXor7) {
  redisbloom::chain chain = redisbloom::chain::reserve({0.01, 100, 2, true});
  const redisbloom::layer& layer = chain.layers.front();
  set_bit(layer.modulus() - 1, false);
  for (int i = 0; i < 20; ++i) {
    const std::string key = "key " + std::to_string(i);
    chain.add(key);
    numbers places(layer.probes);
    redisbloom::positions(murmur64a_pair(key), layer.modulus(), places);
    for (const std::uint64_t p : places) set_bit(p ^ 7);
  }
  EXPECT_TRUE(string() == text(layer.bits));
  EXPECT_NE(count(), "0");
}

}  // namespace
}  // namespace everseen::foreign
