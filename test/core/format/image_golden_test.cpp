// doc/format.md is the contract: these tests read its worked example, worked_example.md, and compare it with
// the output of the codecs.

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "everseen/core/format/file_records.hpp"

#include "test/support/places.hpp"
#include "test/support/samples/image_examples.hpp"

namespace everseen {
namespace {

using namespace test;

/// The block of the worked example that begins with "```hexdump <name>".
std::string documented(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(test::source_directory() + "/test/core/format/worked_example.md").rdbuf();
  const std::string opening = "```hexdump " + name + "\n";
  const std::size_t offset = text.str().find(opening);
  if (offset == std::string::npos) return "worked_example.md has no hexdump '" + name + "'";
  const std::size_t begin = offset + opening.size();
  return text.str().substr(begin, text.str().find("```", begin) - begin);
}

/// Offset and 16 bytes a line, as in the document.
std::string hexdump(std::span<const std::byte> bytes) {
  std::string text;
  std::array<char, 24> buffer;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) {
      std::snprintf(buffer.data(), buffer.size(), "%04zx ", i);
      text += buffer.data();
    }
    std::snprintf(buffer.data(), buffer.size(), " %02x", std::to_integer<unsigned>(bytes[i]));
    text += buffer.data();
    if (i % 16 == 15 || i + 1 == bytes.size()) text += '\n';
  }
  return text;
}

TEST(ImageGolden, SpecMatchesTheDocument) {
  EXPECT_EQ(hexdump(image::encode_spec(example_spec())), documented("spec"));
}

TEST(ImageGolden, SegmentHeaderMatchesTheDocument) {
  EXPECT_EQ(hexdump(image::encode_segment_header(example_header())), documented("segment"));
}

TEST(ImageGolden, ManifestMatchesTheDocument) {
  EXPECT_EQ(hexdump(image::encode_manifest(example_manifest())), documented("manifest"));
}

TEST(ImageGolden, LinkRecordMatchesTheDocument) {
  EXPECT_EQ(hexdump(image::encode_link(example_link())), documented("link"));
  EXPECT_EQ(image::decode_link(image::encode_link(example_link())), example_link());
}

TEST(ImageGolden, EndRecordMatchesTheDocument) {
  const event_time end(std::chrono::milliseconds(1'700'000'000'000));
  EXPECT_EQ(hexdump(image::encode_end(end)), documented("end"));
  EXPECT_EQ(image::decode_end(image::encode_end(end)), end);
}

TEST(ImageGolden, EndRecordWithAnyOtherByteIsRefused) {
  const auto bytes = image::encode_end(event_time(std::chrono::milliseconds(1)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{1};
    EXPECT_THROW((void)image::decode_end(damaged), format_error) << i;
  }
  EXPECT_THROW((void)image::decode_end(std::span(bytes).first(31)), format_error);
}

TEST(ImageGolden, StreamMatchesTheDocument) {
  EXPECT_EQ(hexdump(example_stream()), documented("stream"));
}

TEST(ImageGolden, KeyCountsAreCheckedByTheCrcThatTheDocumentNames) {
  EXPECT_EQ(image::encode_key_count(0), 0x0E10'0000'0000'0000u);  // computed by an independent implementation
  EXPECT_EQ(image::encode_key_count(7), 0x7EF7'0000'0000'0007u);
}

}  // namespace
}  // namespace everseen
