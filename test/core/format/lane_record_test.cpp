#include "everseen/core/format/lane_record.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

constexpr std::uint64_t most = ~std::uint64_t{0};

TEST(LaneRecord, IsEmptyAtFirst) {
  const lane_record r;
  EXPECT_FALSE(r.has_judged(0));
  EXPECT_EQ(r.head(), "");
  EXPECT_EQ(r.encode(), "");
  EXPECT_EQ(lane_record::decode(""), r);
}

TEST(LaneRecord, RemembersFreshEventsUntilTheyAreSettled) {
  lane_record r;
  r.note(0, true);
  r.note(1, false);
  r.note(7, true);
  r.note(most - 1, true);
  for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{7}, most - 1}) {
    EXPECT_TRUE(r.has_judged(position));
    EXPECT_TRUE(r.was_fresh(position));
  }
  EXPECT_FALSE(r.was_fresh(1));
  EXPECT_TRUE(r.has_judged(3)) << "the other partitions' events";
  EXPECT_FALSE(r.has_judged(most));
  EXPECT_EQ(r.settled_before(7), 1u);
  r.forget(8);
  EXPECT_EQ(r.settled_before(most), 1u);
  EXPECT_FALSE(r.was_fresh(7));
  EXPECT_TRUE(r.has_judged(7));
}

TEST(LaneRecord, EncodesPositionsInEightBytesWithTheLastJudgedFirst) {
  lane_record r;
  r.note(0x0102, true);
  r.note(0x0304, false);
  const std::string bytes("\0\0\0\0\0\0\3\4\0\0\0\0\0\0\1\2", 16);
  EXPECT_EQ(r.encode(), bytes);
  EXPECT_EQ(r.head(), bytes.substr(0, 8));
  EXPECT_EQ(lane_record::decode(bytes), r);
}

TEST(LaneRecord, RefusesInvalidBytes) {
  const auto record_of = [](std::initializer_list<std::uint64_t> positions) {
    std::string bytes;
    for (const std::uint64_t position : positions) append_position(bytes, position);
    return bytes;
  };
  EXPECT_NO_THROW((void)lane_record::decode(record_of({9, 1, 2, 9})));
  for (const std::string& bytes : {record_of({9, 1, 1}), record_of({9, 2, 1}), record_of({9, 10}),
                                   record_of({9}).substr(1), record_of({9, 1}).substr(0, 15)})
    EXPECT_THROW((void)lane_record::decode(bytes), format_error);
}

}  // namespace
}  // namespace everseen
