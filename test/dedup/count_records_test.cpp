#include "everseen/dedup/count_records.hpp"

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
  /// In blocks of a few bytes.
  std::string counted(const std::string& text) {
    const test::memory_file in(text);
    const test::memory_file written;
    block_reader input({in.path()}, options.format, 8);
    output out(written.descriptor(), "output");
    result = {};
    count_records(input, out, options, result);
    return written.text();
  }

  dedup_options options;
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
  options.wanted = verdict::seen;
  EXPECT_EQ(counted("b\na\nb\n"), "      2 b\n");
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
