#include "everseen/serve/net/receive_buffer.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace everseen::serve {
namespace {

constexpr std::size_t plenty = 1 << 30;

void put(receive_buffer& into, std::string_view bytes, std::size_t needed = 0) {
  while (!bytes.empty()) {
    const std::span<char> room = into.room(needed);
    const std::size_t count = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), count, room.begin());
    into.received(count);
    bytes.remove_prefix(count);
  }
}

TEST(ReceiveBuffer, KeepsUnusedBytes) {
  byte_budget all(plenty);
  receive_buffer buffer(all);
  put(buffer, "abcdef");
  buffer.use(2);
  put(buffer, "gh");
  EXPECT_EQ(buffer.unread(), "cdefgh");
}

TEST(ReceiveBuffer, HoldsARequestOfAnyLength) {
  byte_budget all(plenty);
  receive_buffer buffer(all);
  const std::string bytes(5'000'000, 'x');
  put(buffer, bytes, bytes.size());
  EXPECT_EQ(buffer.unread(), bytes);
}

TEST(ReceiveBuffer, IsSmallForAQuietClient) {
  byte_budget all(plenty);
  receive_buffer buffer(all);
  EXPECT_LE(buffer.room(0).size(), 4096U);
}

TEST(ReceiveBuffer, GrowsForAClientThatFillsIt) {
  byte_budget all(plenty);
  receive_buffer buffer(all);
  for (int i = 0; i < 10; ++i) {
    buffer.received(buffer.room(0).size());
    buffer.use(buffer.unread().size());
  }
  EXPECT_GE(buffer.room(0).size(), 200'000U);
}

TEST(ReceiveBuffer, DoesNotGrowForAnAnnouncementBeforeTheBytesArrive) {
  byte_budget all(plenty);
  receive_buffer buffer(all);
  put(buffer, "$1000000000");
  EXPECT_LE(buffer.room(1'000'000'000).size(), 16'384U);
}

TEST(ReceiveBuffer, RefusesRoomForALongRequestWhenOthersHoldTooMuch) {
  byte_budget all(1'000'000);
  receive_buffer one(all), other(all);
  put(one, std::string(600'000, 'x'));
  put(other, std::string(50'000, 'x'));
  std::size_t came = other.unread().size();
  for (std::span<char> room = other.room(900'000); !room.empty(); room = other.room(900'000)) {
    other.received(room.size());
    came += room.size();
    ASSERT_LT(came, 900'000U);
  }
  EXPECT_LE(all.taken(), 1'000'000U);
  one.use(600'000);
  EXPECT_FALSE(one.room(0).empty());
  EXPECT_FALSE(other.room(900'000).empty()) << "the other request has ended";
}

TEST(ReceiveBuffer, HoldsARequestOfTheMaximumSize) {
  byte_budget all(1'000'000);
  receive_buffer buffer(all);
  constexpr std::size_t needed = 1'000'000;
  while (buffer.unread().size() < needed) {
    const std::span<char> room = buffer.room(needed);
    ASSERT_FALSE(room.empty()) << "after " << buffer.unread().size();
    buffer.received(std::min({room.size(), needed - buffer.unread().size(), std::size_t{50'000}}));
  }
  EXPECT_LE(all.taken(), needed);
}

TEST(ReceiveBuffer, UsesItsRoomWhenThereIsNoMore) {
  byte_budget all(300'000);
  receive_buffer buffer(all);
  put(buffer, std::string(270'000, 'x'), 290'000);
  const std::span<char> room = buffer.room(0);
  EXPECT_FALSE(room.empty()) << "of " << all.taken() << " bytes only " << buffer.unread().size()
                             << " are used";
}

TEST(ReceiveBuffer, AlwaysHasRoomForAShortRequest) {
  byte_budget all(0);
  receive_buffer buffer(all);
  for (int i = 0; i < 100; ++i) {
    buffer.received(buffer.room(0).size());
    buffer.use(buffer.unread().size() - 1000);
    ASSERT_FALSE(buffer.room(3000).empty());
    buffer.use(1000);
  }
}

TEST(ReceiveBuffer, ReleasesTheMemoryOfALongRequest) {
  byte_budget all(plenty);
  receive_buffer buffer(all);
  put(buffer, std::string(5'000'000, 'x'), 5'000'000);
  buffer.use(5'000'000);
  EXPECT_LE(buffer.room(0).size(), 300'000U);
}

}  // namespace
}  // namespace everseen::serve
