#include "everseen/store/port/filter_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/samples/image_examples.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/thrown_message.hpp"

namespace everseen {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

/// A stream of 268 bytes, and the length that its only segment claims to have.
std::vector<std::byte> announcing(std::uint64_t bytes) {
  std::vector<std::byte> stream;
  const image::stream_writer out([&](auto piece) { stream.insert(stream.end(), piece.begin(), piece.end()); },
                                 "clicks", example_spec(), example_id());
  const auto header =
      image::encode_segment_header({example_id(), {0, 3, 0}, {layout_kind::line_8x64, 8, bytes}, 500, 7});
  stream.insert(stream.end(), header.begin(), header.end());
  return stream;
}

image::byte_source reading(const std::vector<std::byte>& stream) {
  return [rest = std::span(stream)](std::span<std::byte> into) mutable {
    const std::size_t n = std::min(into.size(), rest.size());
    std::copy_n(rest.begin(), n, into.begin());
    rest = rest.subspan(n);
    return n;
  };
}

/// A disk that notes what is reserved, and has no room for it.
class noting_disk final : public disk {
 public:
  int reserve(int /*file*/, std::uint64_t bytes, const std::filesystem::path& /*path*/) override {
    most = std::max(most, bytes);
    return ENOSPC;
  }
  std::uint64_t most = 0;
};

constexpr std::uint64_t huge = std::uint64_t{40} << 30;

// Promise: no disk space is reserved for the bits of an export that its file does not have (files, Damage).
TEST(FilterStream, ReservesNothingForBitsThatTheFileCannotHave) {
  const scratch_directory scratch;
  noting_disk on;
  file_store store(scratch.path(), sync_policy::never, on);
  const std::vector<std::byte> stream = announcing(huge);
  EXPECT_THAT(message_of<format_error>([&] { read_stream(store, "f", reading(stream), stream.size()); }),
              AllOf(HasSubstr("cut off"), HasSubstr(std::to_string(huge)), HasSubstr("and 0 bytes follow")));
  EXPECT_EQ(on.most, 0U);
  EXPECT_FALSE(store.exists("f"));
}

class small_store final : public memory_store {
 public:
  [[nodiscard]] store_traits traits() const override {
    store_traits mine = memory_store::traits();
    mine.room_bytes = 1'000'000;
    return mine;
  }
};

TEST(FilterStream, ReservesNoMoreThanTheStoreHasRoomForIfTheLengthOfTheStreamIsUnknown) {
  small_store store;
  const std::vector<std::byte> stream = announcing(huge);
  EXPECT_THAT(message_of<parameter_error>([&] { read_stream(store, "f", reading(stream)); }),
              AllOf(HasSubstr(std::to_string(huge)), HasSubstr("room for 1000000")));
  EXPECT_FALSE(store.exists("f"));
}

TEST(FilterStream, OfAFileOfItsLengthIsRead) {
  memory_store store;
  const std::vector<std::byte> stream = example_stream();
  read_stream(store, "f", reading(stream), stream.size());
  EXPECT_TRUE(store.exists("f"));
}

}  // namespace
}  // namespace everseen
