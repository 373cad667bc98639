#include "everseen/serve/own/asked_keys.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/wire/client_protocol.hpp"

namespace everseen::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(const std::vector<std::string_view>& behind_the_filter) {
  std::vector<std::string_view> words = {"EVERSEEN.ADD", "f"};
  words.insert(words.end(), behind_the_filter.begin(), behind_the_filter.end());
  try {
    (void)parse_asked_keys(words);
  } catch (const refusal& why) {
    return why.text;
  }
  return "nothing was refused";
}

TEST(AskedKeys, BatchOfASessionHasItsNumberAndItsKeys) {
  const std::vector<std::string_view> words = {"EVERSEEN.ADD", "f",     "OF", "print", "SESSION", "s", "3",
                                               "DIGITS",       "ITEMS", "a",  "b"};
  const asked_keys asked = parse_asked_keys(words);
  EXPECT_EQ(asked.session, "s");
  EXPECT_EQ(asked.number, 3U);
  EXPECT_EQ(asked.fingerprint, "print");
  EXPECT_TRUE(asked.in_digits);
  EXPECT_THAT(std::vector(asked.keys.begin(), asked.keys.end()), ElementsAre("a", "b"));
}

TEST(AskedKeys, EmptyNamesAreNotTakenForNone) {
  EXPECT_THAT(refusal_of({"SESSION", "", "1", "DIGITS", "ITEMS", "a"}), HasSubstr("syntax error"));
  EXPECT_THAT(refusal_of({"OF", "", "ITEMS", "a"}), HasSubstr("syntax error"));
}

TEST(AskedKeys, SessionIsGivenOnce) {
  EXPECT_THAT(refusal_of({"SESSION", "s", "1", "SESSION", "t", "1", "DIGITS", "ITEMS", "a"}),
              HasSubstr("syntax error"));
}

TEST(AskedKeys, AnswersOfASessionAreSmall) {
  EXPECT_THAT(refusal_of({"SESSION", "s", "1", "ITEMS", "a"}), HasSubstr("add the word DIGITS"));
  std::vector<std::string_view> words = {"SESSION", "s", "1", "DIGITS", "ITEMS"};
  words.resize(words.size() + wire::session_batch_keys, "a");
  EXPECT_EQ(refusal_of(words), "nothing was refused");
  words.emplace_back("a");
  EXPECT_THAT(refusal_of(words), HasSubstr("at most 65536 keys"));
}

}  // namespace
}  // namespace everseen::serve
