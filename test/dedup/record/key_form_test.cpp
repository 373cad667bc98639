#include "everseen/dedup/record/key_form.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace everseen {
namespace {

std::string formed(const key_form& form, std::string_view key) {
  std::string text;
  return std::string(form.of(key, text));
}

TEST(KeyForm, LeavesKeysAsTheyAreUnlessAskedTo) {
  EXPECT_TRUE(key_form{}.is_identity());
  for (const std::string_view key : {" A\tb ", "", "\0x", "\xff"}) EXPECT_EQ(formed({}, key), key);
}

TEST(KeyForm, IgnoresTheCaseOfLettersOfAsciiAlone) {
  const key_form form{.ignore_case = true};
  EXPECT_EQ(formed(form, "AbZ[@`{19"), "abz[@`{19");
  EXPECT_EQ(formed(form, "\xC3\x84\xC3\xA4"), "\xC3\x84\xC3\xA4") << "umlauts stay different";
}

TEST(KeyForm, FoldsLettersOfAllScripts) {
  const key_form form{.fold_case = true};
  EXPECT_EQ(formed(form, "Straße, STRASSE"), "strasse, strasse");
  EXPECT_EQ(formed(form, "ΣΊΣΥΦΟΣ Ж"), "σίσυφοσ ж") << "the final sigma is one of three";
  EXPECT_EQ(formed(form, "AbZ[@`{19"), "abz[@`{19");
  EXPECT_EQ(formed(form, "İ"), "i\xCC\x87") << "one that folds to two";
  EXPECT_EQ(formed(form, formed(form, "ŉΐẞ")), formed(form, "ŉΐẞ")) << "nothing is left to fold";
}

TEST(KeyForm, FoldsNothingThatIsNoUtf8) {
  const key_form form{.fold_case = true};
  for (const std::string_view bytes :
       {"\xff", "\xc3", "\xe2\x82", "\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_EQ(formed(form, "A" + std::string(bytes) + "B"), "a" + std::string(bytes) + "b");
  EXPECT_EQ(formed(form, std::string_view("\0A", 2)), std::string_view("\0a", 2));
}

TEST(KeyForm, TrimsBlanksAtBothEndsAndNoOthers) {
  const key_form form{.trim = true};
  EXPECT_EQ(formed(form, " \ta b\t \r"), "a b");
  EXPECT_EQ(formed(form, " \t\r "), "");
  EXPECT_EQ(formed(form, ""), "");
  EXPECT_EQ(formed(form,
                   "\x0b"
                   "a\n"),
            "\x0b"
            "a\n");
}

TEST(KeyForm, SkipsFieldsAsUniqDoes) {
  EXPECT_EQ(formed({.skip_fields = 1}, "a b c"), " b c");
  EXPECT_EQ(formed({.skip_fields = 2}, "  a \tb  c"), "  c");
  EXPECT_EQ(formed({.skip_fields = 3}, "a b"), "");
  EXPECT_EQ(formed({.skip_fields = 1'000'000}, std::string(100, 'a')), "");
}

TEST(KeyForm, SkipsAndChecksCharactersOfUtf8) {
  EXPECT_EQ(formed({.skip_chars = 2}, "\xC3\xA4\xE2\x82\xACz"), "z");
  EXPECT_EQ(formed({.check_chars = 2}, "\xC3\xA4\xE2\x82\xACz"), "\xC3\xA4\xE2\x82\xAC");
  EXPECT_EQ(formed({.check_chars = 0}, "abc"), "");
  EXPECT_EQ(formed({.skip_chars = 9}, "abc"), "");
  EXPECT_EQ(formed({.skip_chars = 1},
                   "\x80\x80"
                   "a"),
            "a")
      << "bytes that begin no character";
}

TEST(KeyForm, TakesItsStepsInOrder) {
  const key_form form{.trim = true, .skip_fields = 1, .skip_chars = 1, .check_chars = 3, .ignore_case = true};
  EXPECT_EQ(formed(form, "  x ABCDE  "), "abc");
}

}  // namespace
}  // namespace everseen
