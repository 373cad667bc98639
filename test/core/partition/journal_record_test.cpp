#include "everseen/core/partition/journal_record.hpp"

#include <span>

#include <gtest/gtest.h>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"

#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

journal_record record_of(std::uint64_t previous, window::slice_index newest,
                         std::vector<journal_record::group> groups) {
  journal_record r{previous, newest, std::move(groups), {}};
  std::size_t keys = 0;
  for (const auto& g : r.groups) keys += g.keys;
  r.keys = test::random_digests(previous).take(keys);
  return r;
}

journal_record shortened(journal_record r) {
  r.short_keys = true;
  for (digest& key : r.keys) key = lengthened(key.low);
  return r;
}

journal_record merge_of(std::vector<journal_record::piece> pieces) {
  return {.previous = 3, .newest = 5, .pieces = std::move(pieces)};
}

const journal_record examples[] = {
    record_of(0, window::timeless, {{window::timeless, 3}}),
    record_of(7, 5, {}),
    record_of(~std::uint64_t{0}, 5, {{-3, 1}, {0, 200}, {5, 2}}),
    shortened(record_of(1, window::timeless, {{window::timeless, 3}})),
    shortened(record_of(7, 5, {})),
    shortened(record_of(2, 5, {{-3, 1}, {0, 200}, {5, 2}})),
    merge_of({{5, 0, 12, 64, "bits"}}),
    merge_of({{-3, 0, 12, 0, ""},
              {-3, 0, 12, 7, "some"},
              {-3, 0, 12, 11, "bits"},
              {-3, 2, 1, 3, ""},
              {0, 1, 1, 0, "x"}}),
};

std::string bytes_of(const journal_record& r) {
  std::string bytes;
  (void)append_record(bytes, r);
  return bytes;
}

TEST(JournalRecord, RecordsAreReadBackInOrder) {
  std::string journal;
  for (const journal_record& r : examples) (void)append_record(journal, r);
  journal_reader reader(journal);
  for (const journal_record& r : examples) EXPECT_EQ(reader.next(), r);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.rest(), 0u);
}

TEST(JournalRecord, IsIdentifiedByItsChecksumWhichTheNextRecordRepeats) {
  std::string journal;
  const std::uint64_t first = append_record(journal, examples[0]);
  journal_record next = examples[1];
  next.previous = first;
  (void)append_record(journal, next);
  journal_reader reader(journal);
  (void)reader.next();
  EXPECT_EQ(reader.last_checksum(), first);
  EXPECT_EQ(reader.next()->previous, first);
}

TEST(JournalRecord, HasTheDocumentedBytes) {
  const journal_record r{0x0102030405060708, 9, {{8, 1}}, {{0x1112131415161718, 0x2122232425262728}}};
  const std::string head("EVSJ\x48\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0",
                         32);
  const std::string group("\x08\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
  const std::string key("\x18\x17\x16\x15\x14\x13\x12\x11\x28\x27\x26\x25\x24\x23\x22\x21", 16);
  const std::string bytes = bytes_of(r);
  ASSERT_EQ(bytes.size(), 72u);
  EXPECT_EQ(bytes.substr(0, 64), head + group + key);
}

TEST(JournalRecord, HasTheDocumentedBytesWithShortDigests) {
  const journal_record r =
      shortened({0x0102030405060708, 9, {{8, 2}}, {{0x1112131415161718, 1}, {0x2122232425262728, 2}}});
  const std::string head("EVSj\x48\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0",
                         32);
  const std::string group("\x08\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  const std::string keys("\x18\x17\x16\x15\x14\x13\x12\x11\x28\x27\x26\x25\x24\x23\x22\x21", 16);
  const std::string bytes = bytes_of(r);
  ASSERT_EQ(bytes.size(), 72u);
  EXPECT_EQ(bytes.substr(0, 64), head + group + keys);
  journal_reader reader(bytes);
  EXPECT_EQ(reader.next(), r);
}

TEST(JournalRecord, OfAMergeHasTheDocumentedBytes) {
  const journal_record r = {.previous = 0x0102030405060708,
                            .newest = 9,
                            .pieces = {{8, 2, 0x3132333435363738, 0x2122232425262728, "bits"}}};
  const std::string head("EVSM\x4c\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0\1\0\0\0\4\0\0\0",
                         32);
  const std::string piece(
      "\x08\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\x28\x27\x26\x25\x24\x23\x22\x21\x38\x37\x36\x35\x34\x33\x32\x31",
      32);
  const std::string bytes = bytes_of(r);
  ASSERT_EQ(bytes.size(), 76u);
  EXPECT_EQ(bytes.substr(0, 68), head + piece + "bits");
}

TEST(JournalRecord, IsRefusedInAnotherForm) {
  for (const char form : {'\0', 'k', 'S'}) {
    std::string bytes = bytes_of(examples[0]);
    bytes[3] = form;
    const std::size_t sealed = bytes.size() - journal_record_tail_bytes;
    store_le(bytes.data() + sealed, checksum(std::as_bytes(std::span(bytes).first(sealed))));
    journal_reader reader(bytes);
    EXPECT_THROW((void)reader.next(), format_error) << int{form};
  }
}

TEST(JournalRecord, IsIncompleteWhereverItIsCut) {
  for (const journal_record& r : examples) {
    const std::string bytes = bytes_of(r);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      journal_reader reader(std::string_view(bytes).substr(0, length));
      EXPECT_EQ(reader.next(), std::nullopt) << length;
      EXPECT_EQ(reader.rest(), length);
    }
  }
}

TEST(JournalRecord, IsRefusedWhicheverBitIsFlipped) {
  for (const journal_record& r : examples) {
    const std::string bytes = bytes_of(r);
    for (std::size_t position = 0; position < bytes.size(); ++position)
      for (const char flip : {'\x01', '\x80'}) {
        std::string wrong = bytes;
        wrong[position] = static_cast<char>(wrong[position] ^ flip);
        // More of the journal follows, so that a length that is too large does not look like a cut.
        wrong += bytes;
        journal_reader reader(wrong);
        EXPECT_THROW((void)reader.next(), format_error) << position;
      }
  }
}

TEST(JournalRecord, IsRefusedWithImpossibleContents) {
  const auto refused = [](journal_record r) {
    const std::string bytes = bytes_of(r);
    journal_reader reader(bytes);
    EXPECT_THROW((void)reader.next(), format_error);
  };
  refused({0, 5, {{6, 1}}, test::random_digests(1).take(1)});
  refused({0, 5, {{5, 1}, {4, 1}}, test::random_digests(1).take(2)});
  refused({0, 5, {{4, 1}, {4, 1}}, test::random_digests(1).take(2)});
  refused({0, 5, {{4, 2}}, test::random_digests(1).take(1)});
  refused({0, 5, {{4, 0}, {5, 1}}, test::random_digests(1).take(2)});
  refused({0, 5, {{4, 1}}, test::random_digests(1).take(2)});
  refused(merge_of({{6, 0, 1, 0, "x"}}));
  refused(merge_of({{5, 0, 1, 0, "x"}, {4, 0, 1, 0, "x"}}));
  refused(merge_of({{5, 1, 1, 0, "x"}, {5, 0, 1, 0, "x"}}));
  refused(merge_of({{5, 0, 1, 0, "xx"}, {5, 0, 1, 1, "x"}}));
  refused(merge_of({{5, 0, 1, 5, "x"}, {5, 0, 1, 4, "x"}}));
  refused(merge_of({{5, 0, 1, 0, "x"}, {5, 0, 2, 1, "x"}}));
}

}  // namespace
}  // namespace everseen
