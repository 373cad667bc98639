#include "everseen/cli/verb/verbs.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "everseen/cli/verb/option_set.hpp"

namespace everseen::cli {
namespace {

/// The value names that verbs give their options, by option.
std::map<std::string, std::set<std::string>> values_of_options() {
  std::map<std::string, std::set<std::string>> all;
  for (const verb& v : all_verbs()) {
    option_set options;
    (void)v.declare(options);
    for (const option& o : options)
      if (!o.shown.flags.empty()) all[o.shown.name()].insert(o.shown.value);
  }
  return all;
}

TEST(Verbs, CallOneThingByOneName) {
  // Names that several things have, because other programs use them.
  const std::set<std::string> different = {
      "as",   "config", "count", "filter", "format", "from",    "funnel",      "hash",  "key",        "keys",
      "late", "rate",   "store", "time",   "to",     "late-by", "missing-key", "judge", "time-format"};
  for (const auto& [name, values] : values_of_options()) {
    if (!different.contains(name)) {
      EXPECT_EQ(values.size(), 1U) << "--" << name;
    }
    for (const std::string& value : values) EXPECT_TRUE(value != "N" && value != "DURATION") << "--" << name;
  }
}

TEST(Verbs, HaveOneMeaningForEachLetter) {
  std::map<std::string, std::set<std::string>> names;
  for (const verb& v : all_verbs()) {
    option_set options;
    (void)v.declare(options);
    for (const option& o : options)
      for (const std::string& flag : o.shown.flags)
        if (flag.size() == 2) names[flag].insert(o.shown.name());
  }
  for (const auto& [letter, meanings] : names) EXPECT_EQ(meanings.size(), 1U) << letter;
  for (const char* letter : {"-k", "-t", "-o", "-c", "-q", "-0", "-z", "-y"})
    EXPECT_TRUE(names.contains(letter)) << letter;
}

}  // namespace
}  // namespace everseen::cli
