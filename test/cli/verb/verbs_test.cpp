#include "everseen/cli/verb/verbs.hpp"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace everseen::cli {
namespace {

TEST(Verbs, CallOneThingByOneNameAndOneLetter) {
  std::map<std::string, std::set<std::string>> values;    // of each option, by its name
  std::map<std::string, std::set<std::string>> meanings;  // of each letter
  for (const verb& v : all_verbs()) {
    option_set options;
    (void)v.declare(options);
    for (const option& o : options) {
      if (!o.shown.flags.empty()) values[o.shown.name()].insert(o.shown.value);
      for (const std::string& flag : o.shown.flags)
        if (flag.size() == 2) meanings[flag].insert(o.shown.name());
    }
  }
  // Names that several things have, because other programs use them.
  const std::set<std::string> different = {
      "as",   "config", "count", "filter", "format", "from",    "funnel",      "hash",  "key",        "keys",
      "late", "rate",   "store", "time",   "to",     "late-by", "missing-key", "judge", "time-format"};
  for (const auto& [name, all] : values) {
    if (!different.contains(name)) {
      EXPECT_EQ(all.size(), 1U) << "--" << name;
    }
    for (const std::string& value : all) EXPECT_TRUE(value != "N" && value != "DURATION") << "--" << name;
  }
  for (const auto& [letter, names] : meanings) EXPECT_EQ(names.size(), 1U) << letter;
  for (const char* letter : {"-k", "-t", "-o", "-c", "-q", "-0", "-z", "-y"})
    EXPECT_TRUE(meanings.contains(letter)) << letter;
}

}  // namespace
}  // namespace everseen::cli
