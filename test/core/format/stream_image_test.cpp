#include "everseen/core/format/stream_image.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"

#include "test/support/samples/image_examples.hpp"

namespace everseen {
namespace {

using namespace test;
using bytes = std::vector<std::byte>;

/// Delivers the bytes in pieces of at most `step`.
image::byte_source pieces_of(const bytes& from, std::size_t step = std::numeric_limits<std::size_t>::max()) {
  return [rest = std::span(from), step](std::span<std::byte> out) mutable {
    const std::size_t n = std::min({out.size(), rest.size(), step});
    std::copy_n(rest.begin(), n, out.begin());
    rest = rest.subspan(n);
    return n;
  };
}

struct read_back {
  std::string name;
  std::vector<image::segment_header> headers;
  std::vector<bytes> bits;
};

read_back read_all(image::byte_source from, const image::stream_limits& limits = {}) {
  image::stream_reader in(std::move(from), limits);
  read_back all{in.name(), {}, {}};
  while (const auto header = in.next()) {
    all.headers.push_back(*header);
    in.read_bits([&bits = all.bits.emplace_back()](auto piece) {
      bits.insert(bits.end(), piece.begin(), piece.end());
    });
  }
  return all;
}

std::string refusal(const bytes& stream, const image::stream_limits& limits = {}) {
  try {
    read_all(pieces_of(stream), limits);
  } catch (const format_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// A stream of segments of the given lengths with recognisable bits.
bytes stream_of(const std::vector<segment_id>& ids, std::uint64_t length = 256) {
  bytes stream;
  image::stream_writer out([&](auto piece) { stream.insert(stream.end(), piece.begin(), piece.end()); }, "f",
                           example_spec(), example_id());
  for (const segment_id& id : ids) {
    bytes bits(length, static_cast<std::byte>(id.layer + 1));
    out.segment(id, {{layout_kind::line_8x64, 8, length}, 10, 5}, bits);
  }
  out.finish();
  return stream;
}

TEST(StreamImage, IsReadBackHoweverItIsCutIntoPieces) {
  const bytes stream = stream_of({{0, 3, 0}, {0, 3, 1}, {0, 9, 0}}, 128 * 1024 + 64);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    const read_back back = read_all(pieces_of(stream, step));
    EXPECT_EQ(back.name, "f");
    ASSERT_EQ(back.headers.size(), 3u);
    EXPECT_EQ(back.headers[1].id, (segment_id{0, 3, 1}));
    EXPECT_EQ(back.headers[1].keys, 5u);
    EXPECT_EQ(back.bits[1], bytes(128 * 1024 + 64, std::byte{2}));
  }
}

TEST(StreamImage, FilterWithoutSegmentsIsAlsoAStream) {
  EXPECT_TRUE(read_all(pieces_of(stream_of({}))).headers.empty());
}

// Promise: any changed bit and any cut of an export is detected (files, Damage).
TEST(StreamImage, EveryFlipIsRefused) {
  const bytes good = example_stream();
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    bytes bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(refusal(bad), "nothing was thrown") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

// Promise: any changed bit and any cut of an export is detected (files, Damage).
TEST(StreamImage, EveryCutIsRefused) {
  const bytes good = example_stream();
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string why = refusal(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_NE(why.find("cut off"), std::string::npos) << length << ": " << why;
  }
}

TEST(StreamImage, SkippedBitsAreStillChecked) {
  bytes bad = example_stream();
  bad[bad.size() - 32 - 8 - 1] ^= std::byte{1};  // the last byte of the bits
  image::stream_reader in(pieces_of(bad));
  EXPECT_TRUE(in.next());
  EXPECT_THROW((void)in.next(), format_error);
}

// Promise: no memory is allocated from the numbers of an export that exceed the reader's limit (files,
// Damage).
TEST(StreamImage, LimitsAreCheckedBeforeTheBitsAreRead) {
  const bytes stream = stream_of({{0, 3, 0}, {0, 3, 1}});
  EXPECT_EQ(refusal(stream, {256, 512}), "nothing was thrown");
  EXPECT_NE(refusal(stream, {255, 512}).find("limit"), std::string::npos);
  EXPECT_NE(refusal(stream, {256, 511}).find("limit"), std::string::npos);
}

TEST(StreamImage, HugeSegmentThatNeverArrivesIsRefusedWithoutAllocating) {
  bytes stream;
  image::stream_writer out([&](auto piece) { stream.insert(stream.end(), piece.begin(), piece.end()); }, "f",
                           example_spec(), example_id());
  const auto hostile = image::encode_segment_header(
      {example_id(), {0, 3, 0}, {layout_kind::line_8x64, 8, std::uint64_t{1} << 39}, 10, 5});
  stream.insert(stream.end(), hostile.begin(), hostile.end());
  stream.resize(stream.size() + 1000);
  EXPECT_NE(refusal(stream).find("cut off"), std::string::npos);
}

TEST(StreamImage, SegmentsOutOfOrderAreRefused) {
  EXPECT_NE(refusal(stream_of({{0, 3, 1}})).find("0.3.1"), std::string::npos);
  EXPECT_NE(refusal(stream_of({{0, 3, 0}, {0, 3, 0}})).find("0.3.0"), std::string::npos);
  EXPECT_NE(refusal(stream_of({{0, 3, 0}, {0, 2, 0}})).find("0.2.0"), std::string::npos);
  EXPECT_NE(refusal(stream_of({{1, 3, 0}})).find("partitions"), std::string::npos);
}

TEST(StreamImage, SegmentOfAnotherFilterIsRefused) {
  bytes stream = stream_of({});
  stream.resize(stream.size() - 32);
  auto foreign = example_header();
  foreign.filter[0] ^= 1;
  const auto encoded = image::encode_segment_header(foreign);
  stream.insert(stream.end(), encoded.begin(), encoded.end());
  EXPECT_NE(refusal(stream).find("another filter"), std::string::npos);
}

TEST(StreamImage, InvalidSegmentIsRefusedBeforeMoreIsRead) {
  bytes stream = stream_of({});
  stream.resize(stream.size() - 32);
  for (const char c : {'E', 'V', 'S', 'N', 'j', 'u', 'n', 'k'}) stream.push_back(static_cast<std::byte>(c));
  EXPECT_NE(refusal(stream).find("neither a segment nor the end"), std::string::npos);
}

TEST(StreamImage, StreamsMayBeConcatenated) {
  bytes two = stream_of({{0, 3, 0}});
  const std::size_t one = two.size();
  two.insert(two.end(), two.begin(), two.begin() + static_cast<std::ptrdiff_t>(one));
  const auto source = pieces_of(two);
  std::size_t taken = 0;
  const image::byte_source counting = [&](std::span<std::byte> out) {
    const std::size_t got = source(out);
    taken += got;
    return got;
  };
  EXPECT_EQ(read_all(counting).headers.size(), 1u);
  EXPECT_EQ(taken, one);
  EXPECT_EQ(read_all(counting).headers.size(), 1u);
}

TEST(StreamImage, NothingMayFollowTheEnd) {
  const bytes stream = stream_of({});
  image::stream_reader in(pieces_of(stream));
  EXPECT_FALSE(in.next());
  EXPECT_FALSE(in.next());
}

}  // namespace
}  // namespace everseen
