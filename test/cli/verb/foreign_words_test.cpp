#include "everseen/cli/verb/foreign_words.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {
namespace {

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

bool has_option(const verb& v, std::string_view flag) {
  const manual_page page = describe(v);
  return std::ranges::count(page.flags(), flag) > 0;
}

/// The verbs and options that a sentence names exist: each verb after `everseen`, and each option, of that
/// verb or, outside such a command, of the verb that was typed.
void expect_that_it_exists(std::string_view sentence, const verb* typed) {
  constexpr std::string_view marks = "'(),;:.";
  const verb* current = typed;
  std::string_view previous;
  const std::vector<std::string> words = words_in(sentence);
  for (const std::string_view with_marks : words) {
    const std::size_t last = with_marks.find_last_not_of(marks);
    const std::string_view word = with_marks.substr(0, last + 1);
    const bool is_option = word.starts_with("--");
    if (previous.ends_with("everseen") && !is_option && word != "does") {
      current = find_verb(word);
      EXPECT_NE(current, nullptr) << word << ": " << sentence;
    } else if (is_option && previous.ends_with("everseen")) {
      EXPECT_TRUE(word == "--help" || word == "--version") << word << ": " << sentence;
    } else if (is_option && current != nullptr) {
      EXPECT_TRUE(has_option(*current, word)) << current->name << ' ' << word << ": " << sentence;
    }
    if (word != with_marks) current = typed;  // the command ends
    previous = with_marks;
  }
}

TEST(ForeignVerbs, AreNoVerbsOfOursAndExplainedByOneSentenceAboutVerbsAndOptionsThatExist) {
  std::set<std::string> known;
  for (const foreign_verb& row : foreign_verbs()) {
    expect_that_it_exists(row.sentence, nullptr);
    for (const std::string& word : words_in(row.words)) {
      EXPECT_EQ(find_verb(word), nullptr) << word;
      EXPECT_TRUE(known.insert(word).second) << word << " is there twice";
      EXPECT_EQ(about_foreign_verb(word), row.sentence);
    }
  }
}

TEST(ForeignVerbs, AreFoundInAnyCaseAndAsCommandsOfRedis) {
  EXPECT_EQ(about_foreign_verb("DELETE"), about_foreign_verb("delete"));
  EXPECT_EQ(about_foreign_verb("BF.EXISTS"), about_foreign_verb("exists"));
  EXPECT_EQ(about_foreign_verb("bf.madd"), about_foreign_verb("insert"));
  EXPECT_EQ(about_foreign_verb("TOPK.ADD"), about_foreign_verb("cf.del"));
  EXPECT_NE(about_foreign_verb("cf.del"), "");
  EXPECT_EQ(about_foreign_verb("frobnicate"), "");
  EXPECT_EQ(about_foreign_verb(""), "");
}

/// The verbs to whose users the row is said: those that it is about, lack the option, and have no row before
/// it.
std::vector<const verb*> audience_of(const foreign_option& row, const std::string& option) {
  std::vector<const verb*> all;
  for (const verb& v : all_verbs()) {
    const manual_page page = describe(v);
    const std::vector<std::string_view> known = page.words();
    if (std::ranges::count(known, row.place) == 0 || has_option(v, option)) continue;
    if (about_foreign_option(option, known) == row.sentence) all.push_back(&v);
  }
  return all;
}

TEST(ForeignOptions, AreEachSaidToUsersOfAVerbAndExplainedByVerbsAndOptionsThatExist) {
  for (const foreign_option& row : foreign_options())
    for (const std::string& option : words_in(row.words)) {
      const std::vector<const verb*> audience = audience_of(row, option);
      EXPECT_FALSE(audience.empty()) << option << " in place " << row.place;
      for (const verb* typed : audience) expect_that_it_exists(row.sentence, typed);
    }
}

}  // namespace
}  // namespace everseen::cli
