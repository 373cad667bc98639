#include "everseen/core/base/names.hpp"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

using namespace std::string_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST(Names, PrintableNamesAreWrittenUnchanged) {
  for (const char* name :
       {"clicks", "user:42", "a b", "日志/2026", "naïve", "it's", "$(ls)", "..", "a\"b", "👀", "@3:a"})
    EXPECT_EQ(shown_name(name), name);
}

// Promise: a character of a name that is invisible is written by its bytes (format, Names of filters and
// jobs).
TEST(Names, InvisibleCharactersAreEscaped) {
  for (const auto& [character, bytes] :
       {std::pair("\u00A0", "\\xc2\\xa0"),      {"\u034F", "\\xcd\\x8f"},
        {"\u115F", "\\xe1\\x85\\x9f"},          {"\u1160", "\\xe1\\x85\\xa0"},
        {"\u1680", "\\xe1\\x9a\\x80"},          {"\u17B4", "\\xe1\\x9e\\xb4"},
        {"\u180B", "\\xe1\\xa0\\x8b"},          {"\u180F", "\\xe1\\xa0\\x8f"},
        {"\u2000", "\\xe2\\x80\\x80"},          {"\u200A", "\\xe2\\x80\\x8a"},
        {"\u200B", "\\xe2\\x80\\x8b"},          {"\u202F", "\\xe2\\x80\\xaf"},
        {"\u205F", "\\xe2\\x81\\x9f"},          {"\u2800", "\\xe2\\xa0\\x80"},
        {"\u3000", "\\xe3\\x80\\x80"},          {"\u3164", "\\xe3\\x85\\xa4"},
        {"\uFFA0", "\\xef\\xbe\\xa0"},          {"\uFFF0", "\\xef\\xbf\\xb0"},
        {"\U0001BCA0", "\\xf0\\x9b\\xb2\\xa0"}, {"\U0001D173", "\\xf0\\x9d\\x85\\xb3"}})
    EXPECT_EQ(shown_name("a"s + character + "b"), "\"a"s + bytes + "b\"");
}

TEST(Names, NamesWithOtherBytesAreQuoted) {
  EXPECT_EQ(shown_name("a\nb\r\t"), R"("a\nb\r\t")");
  EXPECT_EQ(shown_name("\x1b[31mred"), R"("\x1b[31mred")");
  EXPECT_EQ(shown_name("\0\xff"s), R"("\x00\xff")");
  EXPECT_EQ(shown_name("日\xe6"), R"("日\xe6")") << "a truncated character";
  EXPECT_EQ(shown_name("a\u202Eb"), R"("a\xe2\x80\xaeb")") << "it would reverse the line";
  EXPECT_EQ(shown_name("a\u009bb"), R"("a\xc2\x9bb")") << "a terminal may read it as an escape";
  EXPECT_EQ(shown_name("a\u200bb"), R"("a\xe2\x80\x8bb")") << "it is invisible";
}

TEST(Names, AmbiguousNamesAreQuoted) {
  EXPECT_EQ(shown_name("\"a\""), R"("\"a\"")");
  EXPECT_EQ(shown_name("--help"), R"("--help")");
  EXPECT_EQ(shown_name(" a"), R"(" a")");
  EXPECT_EQ(shown_name("a "), R"("a ")");
}

TEST(Names, InvalidUtf8IsNotReadAsUtf8) {
  for (const char* bytes : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xf8\x88\x80\x80\x80", "\x80", "\xe6\x97"})
    EXPECT_THAT(shown_name(bytes), StartsWith("\"\\x"));
}

TEST(Names, AreReadAsTyped) {
  EXPECT_EQ(typed_name("a\\nb"), "a\\nb") << "a backslash means nothing without quotes";
  EXPECT_EQ(typed_name(R"("a\x41\"\\")"), "aA\"\\");
  EXPECT_EQ(typed_name(R"("plain")"), "plain");
  EXPECT_EQ(typed_name(R"("")"), "");
}

TEST(Names, MissingClosingQuoteIsRefused) {
  for (const char* text : {"\"", "\"a", "\"a\"b", "\"a\\\"", R"("\x4")", R"("\xzz")", R"("\q")", "\"\\"})
    EXPECT_THROW((void)typed_name(text), parameter_error) << text;
  try {
    (void)typed_name("\"\x1b");
  } catch (const parameter_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("\"\\x1b begins with a double quote"));
  }
}

// Promise: each name has one text, and each text is one name (format, Names of filters and jobs).
RC_GTEST_PROP(Names, AreReadBackFromTheirText, (const std::string& name)) {
  RC_ASSERT(typed_name(shown_name(name)) == name);
  RC_ASSERT(without_controls(shown_name(name)) == shown_name(name));
}

TEST(Names, AreQuotedInMessagesWithEitherKindOfQuote) {
  EXPECT_EQ(quoted_name("a b"), "'a b'");
  EXPECT_EQ(quoted_name("a\nb"), R"("a\nb")");
}

TEST(Names, OverlongNamesAreShortenedInMessages) {
  const std::string message = quoted_name(std::string(std::size_t{100} << 20, '\x1b'));
  EXPECT_THAT(message, SizeIs(testing::Lt(400u)));
  EXPECT_THAT(message, EndsWith("... (104857600 bytes)"));
}

TEST(Names, AreSafeAsShellArguments) {
  EXPECT_EQ(name_argument("user:42"), "user:42");
  EXPECT_EQ(name_argument("日志"), "日志");
  EXPECT_EQ(name_argument("$(rm -rf ~)"), "'$(rm -rf ~)'");
  EXPECT_EQ(name_argument("it's"), R"('it'\''s')");
  EXPECT_EQ(name_argument("-f"), R"('"-f"')");
}

constexpr std::array<std::string_view, 4> words = {"create", "check", "add", "drop"};

TEST(Nearest, FindsWordsWithOneTypo) {
  EXPECT_EQ(nearest("creat", words), "create");
  EXPECT_EQ(nearest("chekc", words), "check");
  EXPECT_EQ(nearest("ad", words), "add");
  EXPECT_EQ(nearest("drops", words), "drop");
}

TEST(Nearest, FindsLongWordsWithTwoTypos) {
  constexpr std::array<std::string_view, 2> options = {"--max-connections", "--capacity"};
  EXPECT_EQ(nearest("--max-conection", options), "--max-connections");
  EXPECT_EQ(nearest("--kapacty", options), "--capacity");
}

TEST(Nearest, DoesNotCountDashesAsLetters) {
  constexpr std::array<std::string_view, 3> options = {"--hash", "--key", "--window"};
  for (const char* typed : {"--last", "--keep", "--by", "--host", "-k", "--"})
    EXPECT_EQ(nearest(typed, options), "");
  EXPECT_EQ(nearest("-window", options), "--window");
  EXPECT_EQ(nearest("windw", options), "--window");
}

TEST(Nearest, SuggestsNothingForDistantWords) {
  for (const char* typed : {"charge", "rope", "create-it"}) EXPECT_EQ(nearest(typed, words), "") << typed;
  EXPECT_EQ(nearest("merge", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(1000, 'x'), words), "");
}

}  // namespace
}  // namespace everseen
