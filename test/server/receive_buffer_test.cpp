#include "everseen/server/receive_buffer.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace everseen::server {
namespace {

void put(receive_buffer& into, std::string_view bytes, std::size_t needed = 0) {
  while (!bytes.empty()) {
    const std::span<char> room = into.room(needed);
    const std::size_t count = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), count, room.begin());
    into.received(count);
    bytes.remove_prefix(count);
  }
}

TEST(ReceiveBuffer, KeepsWhatWasNotUsed) {
  receive_buffer buffer;
  put(buffer, "abcdef");
  buffer.use(2);
  put(buffer, "gh");
  EXPECT_EQ(buffer.unread(), "cdefgh");
}

TEST(ReceiveBuffer, HoldsARequestOfAnyLength) {
  receive_buffer buffer;
  const std::string all(5'000'000, 'x');
  put(buffer, all, all.size());
  EXPECT_EQ(buffer.unread(), all);
}

TEST(ReceiveBuffer, IsSmallForAQuietClient) {
  receive_buffer buffer;
  EXPECT_LE(buffer.room(0).size(), 4096U);
}

TEST(ReceiveBuffer, GrowsForWhoFillsIt) {
  receive_buffer buffer;
  for (int i = 0; i < 10; ++i) {
    buffer.received(buffer.room(0).size());
    buffer.use(buffer.unread().size());
  }
  EXPECT_GE(buffer.room(0).size(), 200'000U);
}

TEST(ReceiveBuffer, BelievesNoAnnouncementBeforeTheBytesCome) {
  receive_buffer buffer;
  put(buffer, "$1000000000");
  EXPECT_LE(buffer.room(1'000'000'000).size(), 16'384U);
}

TEST(ReceiveBuffer, ReturnsTheMemoryOfALongRequest) {
  receive_buffer buffer;
  put(buffer, std::string(5'000'000, 'x'), 5'000'000);
  buffer.use(5'000'000);
  EXPECT_LE(buffer.room(0).size(), 300'000U);
}

}  // namespace
}  // namespace everseen::server
