#include "everseen/core/format/image.hpp"

#include <array>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"

#include "test/support/samples/image_examples.hpp"

namespace everseen {
namespace {

using namespace test;
using bytes = std::vector<std::byte>;

template <typename Array>
bytes copy_of(const Array& from) {
  return {from.begin(), from.end()};
}

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// Writes a number into an image and recomputes its checksum (the last 8 bytes).
template <typename Integer>
bytes forged(bytes image, std::size_t offset, Integer value) {
  store_le(image.data() + offset, value);
  store_le(image.data() + image.size() - 8, checksum(std::span(image).first(image.size() - 8)));
  return image;
}

void expect_refuses_every_flip_and_cut(const bytes& good, const std::function<void(const bytes&)>& decode) {
  EXPECT_NO_THROW(decode(good));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    bytes bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_THROW(decode(bad), format_error) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW(decode(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))),
                 format_error)
        << "cut to " << length;
  bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_THROW(decode(longer), format_error) << "one byte too many";
}

TEST(Image, SpecIsReadBack) {
  for (const layout_kind layout : all_layouts)
    for (const bool windowed : {false, true}) {
      spec s =
          make_spec({.capacity = 123'456, .error_rate = 1e-7, .layout = layout, .hash = hash_kind::siphash});
      if (windowed) s.window = window_spec{std::chrono::milliseconds(1234), 617};
      s.partitions = 17;
      s.growth = growth_kind::refuse;
      EXPECT_EQ(image::decode_spec(image::encode_spec(s)), s);
    }
}

TEST(Image, SpecOfAnotherSystemIsReadBack) {
  for (const funnel_kind funnel :
       {funnel_kind::bytes, funnel_kind::chars, funnel_kind::int32, funnel_kind::int64}) {
    const spec s = make_spec({.error_rate = 0.03, .layout = layout_kind::guava32, .funnel = funnel});
    EXPECT_EQ(image::decode_spec(image::encode_spec(s)), s);
  }
  spec s = make_spec({.error_rate = 0.01, .layout = layout_kind::redisbloom, .expansion = 7});
  s.foreign.powers_of_two = true;
  EXPECT_EQ(image::decode_spec(image::encode_spec(s)), s);
}

TEST(Image, SegmentOfAnotherSystemIsWholeWordsLong) {
  image::segment_header header = example_header();
  header.shape = {layout_kind::guava64, 5, 920};
  EXPECT_EQ(image::decode_segment_header(image::encode_segment_header(header)), header);
  header.shape.bytes = 924;
  EXPECT_THROW((void)image::decode_segment_header(image::encode_segment_header(header)), format_error);
}

TEST(Image, RedisBloomLayersMaySetMoreBitsThanOthers) {
  image::segment_header header = example_header();
  for (const std::uint16_t probes : std::to_array<std::uint16_t>({64, 65, 255, 256, 1'075})) {
    header.shape = {layout_kind::redisbloom, probes, 920};
    EXPECT_EQ(image::decode_segment_header(image::encode_segment_header(header)), header) << probes;
    if (probes == 64) continue;
    header.shape.layout = layout_kind::guava64;
    EXPECT_THROW((void)image::decode_segment_header(image::encode_segment_header(header)), format_error);
  }
  header.shape = {layout_kind::redisbloom, 1'076, 920};
  EXPECT_THROW((void)image::decode_segment_header(image::encode_segment_header(header)), format_error);
}

TEST(Image, SpecRefusesEveryFlipAndCut) {
  expect_refuses_every_flip_and_cut(copy_of(image::encode_spec(example_spec())),
                                    [](const bytes& b) { (void)image::decode_spec(b); });
}

TEST(Image, SpecNamesTheInvalidField) {
  const bytes good = copy_of(image::encode_spec(example_spec()));
  const auto reason = [&](std::size_t offset, auto value) {
    return message_of([&] { (void)image::decode_spec(forged(good, offset, value)); });
  };
  EXPECT_NE(reason(12, std::uint8_t{9}).find("layout"), std::string::npos);
  EXPECT_NE(reason(14, std::uint8_t{0}).find("hash"), std::string::npos);
  EXPECT_NE(reason(15, std::uint8_t{4}).find("growth"), std::string::npos);
  EXPECT_NE(reason(56, std::uint32_t{0}).find("window"), std::string::npos);
  EXPECT_NE(reason(48, std::int64_t{-1}).find("window"), std::string::npos);
  EXPECT_NE(reason(64, std::uint8_t{4}).find("funnel"), std::string::npos);
  EXPECT_NE(reason(65, std::uint8_t{2}).find("flags"), std::string::npos);
  EXPECT_NE(reason(66, std::uint8_t{1}).find("reserved"), std::string::npos);
  EXPECT_NE(reason(80, std::uint8_t{2}).find("judges"), std::string::npos);
  EXPECT_NE(reason(81, std::uint8_t{1}).find("reserved"), std::string::npos);
  EXPECT_THROW((void)image::decode_spec(forged(good, 16, std::uint64_t{0})), parameter_error);
  EXPECT_THROW((void)image::decode_spec(forged(good, 24, std::numeric_limits<double>::quiet_NaN())),
               parameter_error);
  EXPECT_THROW((void)image::decode_spec(forged(good, 60, std::uint32_t{0})), parameter_error);
}

TEST(Image, UnknownVersionIsReportedAsSuchAndNotAsDamage) {
  bytes newer = copy_of(image::encode_spec(example_spec()));
  store_le(newer.data() + 8, std::uint32_t{2});
  const std::string message = message_of([&] { (void)image::decode_spec(newer); });
  EXPECT_NE(message.find("version 2"), std::string::npos) << message;
  EXPECT_NE(message.find("export"), std::string::npos) << message;
}

TEST(Image, SegmentHeaderIsReadBack) {
  image::segment_header header = example_header();
  EXPECT_EQ(image::decode_segment_header(image::encode_segment_header(header)), header);
  header.id = {65'535, std::numeric_limits<std::int64_t>::min(), 39};
  header.shape = {layout_kind::classic, 64, std::uint64_t{1} << 59};
  header.keys = (std::uint64_t{1} << 48) - 1;
  EXPECT_EQ(image::decode_segment_header(image::encode_segment_header(header)), header);
}

// Promise: any changed bit of a segment's header is detected (files, Damage).
TEST(Image, SegmentHeaderRefusesEveryFlipAndCut) {
  expect_refuses_every_flip_and_cut(copy_of(image::encode_segment_header(example_header())),
                                    [](const bytes& b) { (void)image::decode_segment_header(b); });
}

TEST(Image, KeyCountIsReplacedInPlaceWithoutTouchingTheHeadersChecksum) {
  auto encoded = image::encode_segment_header(example_header());
  store_le(encoded.data() + image::key_count_offset, image::encode_key_count(123));
  EXPECT_EQ(image::decode_segment_header(encoded).keys, 123u);
}

// Promise: up to three changed bits of a key count are detected (files, Damage).
TEST(Image, KeyCountRefusesEveryFlip) {
  for (const std::uint64_t keys : {0ull, 1ull, 1000ull, 0xFFFF'FFFF'FFFFull}) {
    const std::uint64_t word = image::encode_key_count(keys);
    EXPECT_EQ(image::decode_key_count(word), keys);
    for (unsigned bit = 0; bit < 64; ++bit)
      EXPECT_THROW((void)image::decode_key_count(word ^ std::uint64_t{1} << bit), format_error)
          << keys << " bit " << bit;
  }
}

TEST(Image, KeyCountAbove48BitsSaturates) {
  EXPECT_EQ(image::decode_key_count(image::encode_key_count(~std::uint64_t{0})),
            (std::uint64_t{1} << 48) - 1);
}

TEST(Image, ErasedKeyCountIsDetected) {
  EXPECT_THROW((void)image::decode_key_count(0), format_error);
}

TEST(Image, ManifestIsReadBack) {
  image::manifest m = example_manifest();
  EXPECT_EQ(image::decode_manifest(image::encode_manifest(m)), m);
  m.segments.clear();
  m.clean = true;
  EXPECT_EQ(image::decode_manifest(image::encode_manifest(m)), m);
  for (std::int64_t slice = -3; slice < 3; ++slice)
    for (std::uint32_t layer = 0; layer < 3; ++layer)
      m.segments.push_back({{0, slice, layer}, example_shape, 77});
  EXPECT_EQ(image::decode_manifest(image::encode_manifest(m)), m);
}

TEST(Image, ManifestRefusesEveryFlipAndCut) {
  image::manifest with_jobs = example_manifest();
  with_jobs.jobs = {"count", "put"};
  EXPECT_EQ(image::decode_manifest(image::encode_manifest(with_jobs)), with_jobs);
  expect_refuses_every_flip_and_cut(image::encode_manifest(with_jobs),
                                    [](const bytes& b) { (void)image::decode_manifest(b); });
  expect_refuses_every_flip_and_cut(image::encode_manifest(example_manifest()),
                                    [](const bytes& b) { (void)image::decode_manifest(b); });
}

TEST(Image, ManifestWhoseCountOverflowsIsRefusedBeforeAllocating) {
  const bytes good = image::encode_manifest(example_manifest());
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 40,
                                    ~std::uint64_t{0}, ~std::uint64_t{0} / 40 + 2})
    EXPECT_THROW((void)image::decode_manifest(forged(good, 40, count)), format_error) << count;
}

TEST(Image, ManifestWithGapsOrWrongOrderIsRefused) {
  const auto decodes = [](std::vector<segment_id> ids) {
    image::manifest m = example_manifest();
    m.segments.clear();
    for (const segment_id& id : ids) m.segments.push_back({id, example_shape, 500});
    return message_of([&] { (void)image::decode_manifest(image::encode_manifest(m)); });
  };
  EXPECT_EQ(decodes({{0, 3, 0}, {0, 3, 1}, {0, 4, 0}}), "nothing was thrown");
  EXPECT_NE(decodes({{0, 3, 1}}).find("0.3.1"), std::string::npos) << "the first layer is missing";
  EXPECT_NE(decodes({{0, 3, 0}, {0, 3, 2}}).find("0.3.2"), std::string::npos) << "a gap";
  EXPECT_NE(decodes({{0, 4, 0}, {0, 3, 0}}).find("0.3.0"), std::string::npos) << "descends";
  EXPECT_NE(decodes({{0, 4, 0}, {0, 4, 0}}).find("0.4.0"), std::string::npos) << "twice";
  EXPECT_NE(decodes({{1, 4, 0}}).find("partitions"), std::string::npos) << "no such partition";
}

TEST(Image, ManifestWithImpossibleShapesIsRefused) {
  const auto decodes = [](const geometry& shape) {
    image::manifest m = example_manifest();
    m.segments[0].shape = shape;
    return message_of([&] { (void)image::decode_manifest(image::encode_manifest(m)); });
  };
  EXPECT_NE(decodes({layout_kind::line_8x64, 8, 0}).find("0 bytes"), std::string::npos);
  EXPECT_NE(decodes({layout_kind::line_8x64, 8, 100}).find("100 bytes"), std::string::npos);
  EXPECT_NE(decodes({layout_kind::line_8x64, 8, std::uint64_t{1} << 60}).find("bytes"), std::string::npos);
  EXPECT_NE(decodes({layout_kind::line_8x64, 9, 128}).find("probes"), std::string::npos);
  EXPECT_NE(decodes({layout_kind::classic, 8, 128}).find("another layout"), std::string::npos);
  EXPECT_NE(decodes({static_cast<layout_kind>(77), 8, 128}).find("layout 77"), std::string::npos);
}

TEST(Image, FilterIdsDiffer) {
  EXPECT_NE(image::random_filter_id(), image::random_filter_id());
}

TEST(Image, IdAfterAResetDiffersButNamesTheSameFilter) {
  image::filter_id id{};
  id[12] = id[13] = 0xff;
  const image::filter_id first = image::id_after_reset(id);
  const image::filter_id second = image::id_after_reset(first);
  EXPECT_NE(first, id);
  EXPECT_NE(second, first);
  EXPECT_EQ(first[14], 1) << "the carry";
  EXPECT_TRUE(image::are_same_but_for_resets(id, second));
  EXPECT_FALSE(image::are_same_but_for_resets(id, image::random_filter_id()));
}

}  // namespace
}  // namespace everseen
