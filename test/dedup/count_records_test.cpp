#include "everseen/dedup/count_records.hpp"

#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/support/model/memory_file.hpp"

namespace everseen {
namespace {

using testing::HasSubstr;

class CountRecords : public testing::Test {
 protected:
  /// In blocks of a few bytes, unless a test says otherwise.
  std::string counted(const std::string& text) {
    const test::memory_file in(text);
    const test::memory_file written;
    block_reader input({in.path()}, options.format, block_bytes);
    output out(written.descriptor(), "output");
    result = {};
    count_records(input, out, options, wanted, result);
    return written.text();
  }

  std::size_t block_bytes = 8;
  dedup_options options;
  counted_records wanted;
  dedup_result result;
};

TEST_F(CountRecords, PrecedeTheFirstRecordOfEachKeyInTheOrderOfTheInput) {
  EXPECT_EQ(counted("b\na\nb\n\nb\n"), "      3 b\n      1 a\n      1 \n");
  EXPECT_EQ(result.records, 5U);
  EXPECT_EQ(result.verdicts.fresh, 3U);
  EXPECT_EQ(result.verdicts.seen, 2U);
  EXPECT_EQ(counted(""), "");
}

TEST_F(CountRecords, AreOfTheKeyAndShowTheWholeRecord) {
  options.key = {{field_rule::kind::delimited, 2, ',', {}}};
  EXPECT_EQ(counted("1,a\n2,b\n3,a\n"), "      2 1,a\n      1 2,b\n");
}

TEST_F(CountRecords, OfRepeatsAloneOmitUniqueRecords) {
  wanted.wanted = counted_records::keys::repeated;
  EXPECT_EQ(counted("b\na\nb\n"), "      2 b\n");
}

TEST_F(CountRecords, OfKeysThatOccurOnceOmitTheOthers) {
  wanted = {.wanted = counted_records::keys::unrepeated, .with_counts = false};
  EXPECT_EQ(counted("b\na\nb\nc\n"), "a\nc\n");
  EXPECT_EQ(result.written, 2U);
}

TEST_F(CountRecords, OfKeysThatOccurOftenerPrintOneRecordOfEach) {
  wanted = {.wanted = counted_records::keys::repeated, .with_counts = false};
  EXPECT_EQ(counted("b\na\nb\na\nb\nc\n"), "b\na\n");
}

TEST_F(CountRecords, OfTheLastOccurrencesAreInTheirOrder) {
  wanted = {.kept = counted_records::occurrence::last, .with_counts = false};
  EXPECT_EQ(counted("b\na\nb\nc\na\n"), "b\nc\na\n");
  options.key = {{field_rule::kind::delimited, 2, ',', {}}};
  EXPECT_EQ(counted("1,a\n2,b\n3,a\n"), "2,b\n3,a\n");
  wanted.with_counts = true;
  EXPECT_EQ(counted("1,a\n2,b\n3,a\n"), "      1 2,b\n      2 3,a\n");
}

// 128 MB of records of which most are replaced: the memory of the replaced ones is used again, and the result
// is that of an exact model.
TEST_F(CountRecords, OfTheLastOccurrencesForgetTheRecordsBefore) {
  wanted = {.kept = counted_records::occurrence::last, .with_counts = false};
  const std::string filler(1000, 'x');
  std::string text;
  for (unsigned i = 0; i < 130'000; ++i)
    text += std::to_string(i % 1000) + ',' + std::to_string(i) + ',' + filler + '\n';
  options.key = {{field_rule::kind::delimited, 1, ',', {}}};
  wanted.max_bytes = 10 << 20;  // much less than is replaced before it is worth compacting
  block_bytes = 1 << 20;
  std::string expected;
  for (unsigned i = 129'000; i < 130'000; ++i)
    expected += std::to_string(i % 1000) + ',' + std::to_string(i) + ',' + filler + '\n';
  EXPECT_TRUE(counted(text) == expected);
  EXPECT_EQ(result.verdicts.fresh, 1000U);
}

TEST_F(CountRecords, StopBeforeTheyNeedMoreMemoryThanIsAllowed) {
  wanted.max_bytes = 2 << 20;
  std::string text;
  for (unsigned i = 0; i < 200'000; ++i) text += std::to_string(i) + '\n';
  block_bytes = 1 << 16;
  EXPECT_THAT([&] { (void)counted(text); }, testing::ThrowsMessage<storage_error>(HasSubstr("--max-memory")));
}

TEST_F(CountRecords, EndRecordsAsTheInputDoes) {
  options.format.separator = '\0';
  using namespace std::string_literals;
  EXPECT_EQ(counted("a\nb\0c\0a\nb\0"s), "      2 a\nb\0      1 c\0"s);
}

TEST_F(CountRecords, WithoutAKeyAreTreatedAsTheOptionSays) {
  options.key = {{field_rule::kind::json, 0, '\t', "/id"}};
  const std::string text = "{\"id\":1}\n{}\nbroken\n{}\n";
  options.without_key = dedup_options::fate::drop;
  EXPECT_EQ(counted(text), "      1 {\"id\":1}\n");
  EXPECT_EQ(result.without_key, 2U);
  EXPECT_EQ(result.malformed, 1U);
  options.without_key = dedup_options::fate::pass;
  EXPECT_EQ(counted(text), "      1 {\"id\":1}\n      1 {}\n      1 broken\n      1 {}\n");
  options.without_key = dedup_options::fate::fail;
  try {
    (void)counted(text);
    FAIL();
  } catch (const format_error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("line 2 of "), HasSubstr("has no key: there is no /id")));
  }
}

TEST_F(CountRecords, AreExactForManyLongRecords) {
  std::string text;
  std::string expected;
  const std::string rest(2000, 'x');
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 2000; ++i) text += std::to_string(i) + rest + "\n";
  for (int i = 0; i < 2000; ++i) expected += "      3 " + std::to_string(i) + rest + "\n";
  EXPECT_EQ(counted(text), expected);
}

}  // namespace
}  // namespace everseen
