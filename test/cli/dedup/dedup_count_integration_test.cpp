// Features that dedup shares with uniq, sort and xargs: counts, records that end with NUL, quiet.

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

class DedupHabits : public Shell {};

// Promise: the counts are exact, and in the order of the input (dedup, Counting).
TEST_F(DedupHabits, CountsAsUniqDoesInTheOrderOfTheInput) {
  given("everseen gen ids --count 100k --range 1..3k > ids");
  EXPECT_THAT(sh("cmp <(everseen dedup -c ids | sort) <(sort ids | uniq -c | sort)"), Prints(""));
  EXPECT_THAT(
      sh("cmp <(everseen dedup --count ids | sed 's/^ *[0-9]* //') <(everseen dedup --error-rate 1e-12 ids)"),
      Prints(""));
  EXPECT_THAT(sh("cat ids | everseen dedup --count --repeated | awk '$1 < 2' | wc -l"), Prints("0\n"));
}

TEST_F(DedupHabits, CountsByAKeyAndWithAHeader) {
  EXPECT_THAT(sh("everseen dedup -c --csv --header -k user", "id,user\n1,a\n2,b\n3,a\n"),
              Prints("id,user\n      2 1,a\n      1 2,b\n"));
}

TEST_F(DedupHabits, CountsIntoTheFileThatItReads) {
  given("printf 'a\\nb\\na\\n' > words && everseen dedup -c -o words words");
  EXPECT_THAT(sh("cat words"), Prints("      2 a\n      1 b\n"));
}

TEST_F(DedupHabits, CountsWithoutAFilter) {
  for (const char* option : {"--filter f", "--error-rate 0.1", "--capacity 10", "--window 10m", "--threads 2",
                             "--slices 5", "--store mem:", "--timeout 1s", "--wait", "--max-ahead 1m"})
    EXPECT_THAT(
        sh("everseen dedup --count "s + option, "a\n"),
        Complains(2, "a filter cannot count", std::string(option).substr(0, std::string(option).find(' '))))
        << option;
  EXPECT_THAT(
      sh("everseen dedup --count --stats=s; jq -c '[.lines, .fresh, .seen, .filter]' s", "a\nb\na\n").out,
      HasSubstr("[3,2,1,null]"));
}

TEST_F(DedupHabits, EndsRecordsWithNulByAnyOfTheOptionNames) {
  for (const char* name : {"-z", "-0", "--zero", "--null"})
    EXPECT_THAT(sh("everseen dedup "s + name, "a\nb\0c\0a\nb\0"s), Prints("a\nb\0c\0"s)) << name;
  given("mkdir d; touch d/a \"$(printf 'd/two\\nlines')\"");
  EXPECT_THAT(sh("find d -type f -print0 | everseen dedup -0 | xargs -0 -n 1 basename -- | wc -l"),
              Prints("3\n"));
  EXPECT_THAT(sh("everseen create f -q; find d -type f -print0 | everseen add -0 f"),
              Prints("2 fresh, 0 seen\n"));
  EXPECT_THAT(sh("find d -type f -print0 | everseen check -0 f | tr -cd '\\0' | wc -c"), Prints("2\n"));
}

TEST_F(DedupHabits, ReportsNothingUnusualWhereItIsQuiet) {
  const std::string late = "everseen dedup --window 1m --key 2 --time 1 --delimiter , ";
  const std::string lines = "2025-01-01T00:10:00Z,a\n2025-01-01T00:00:00Z,b\n";
  EXPECT_THAT(sh(late, lines).err, HasSubstr("older than the window"));
  EXPECT_THAT(sh(late + "-q", lines).err, "");
}

TEST_F(DedupHabits, PrintTheVersionByEitherName) {
  EXPECT_EQ(sh("everseen -V").out, sh("everseen --version").out);
}

}  // namespace
}  // namespace everseen::test
