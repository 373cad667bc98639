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

TEST_F(DedupHabits, PrintsLinesThatOccurOnceOrMoreThanOnceAsUniqDoes) {
  given("everseen gen ids --count 10k --range 1..9k > ids");
  EXPECT_THAT(sh("cmp <(everseen dedup -d ids | sort) <(sort ids | uniq -d)"), Prints(""));
  EXPECT_THAT(sh("cmp <(everseen dedup -u ids | sort) <(sort ids | uniq -u)"), Prints(""));
  EXPECT_THAT(sh("cmp <(everseen dedup -d ids) <(everseen dedup -c --repeated ids | sed 's/^ *[0-9]* //')"),
              Prints(""));
  EXPECT_THAT(sh("everseen dedup -d -u ids"), Complains(2, "-d or -u"));
  EXPECT_THAT(sh("everseen dedup -u --repeated ids"), Complains(2, "--repeated"));
  EXPECT_THAT(sh("everseen dedup -d --filter f ids"), Complains(2, "--duplicates", "--filter"));
}

TEST_F(DedupHabits, KeepsTheLastLineOfAKeyAsTheInputBackwardsDoes) {
  given("everseen gen clicks --count 5k --repeats 30% --format csv > clicks.csv");
  EXPECT_THAT(sh("cmp <(everseen dedup -k 2 -t , --keep last clicks.csv) <(tac clicks.csv | everseen dedup "
                 "-k 2 -t , --error-rate 1e-12 | tac)"),
              Prints(""));
  EXPECT_THAT(sh("cmp <(everseen dedup --keep first clicks.csv) <(everseen dedup clicks.csv)"), Prints(""));
  EXPECT_THAT(sh("everseen dedup --keep last --window 1h clicks.csv"),
              Complains(2, "--keep last", "--window"));
}

TEST_F(DedupHabits, StopsBeforeLinesThatAreKeptFillTheMemory) {
  EXPECT_THAT(sh("everseen gen ids --count 100k --range 1..10M | everseen dedup -u --max-memory 2Mi"),
              Complains(3, "2 MiB", "--max-memory"));
  EXPECT_THAT(sh("everseen dedup --max-memory 2Gi", "a\n"), Complains(2, "--max-memory"));
}

TEST_F(DedupHabits, CutsFieldsAtDelimitersOfSeveralBytes) {
  EXPECT_THAT(sh("everseen dedup -k 2 -t ' | '", "1 | a | x\n2 | b | y\n3 | a | z\n"),
              Prints("1 | a | x\n2 | b | y\n"));
  EXPECT_THAT(sh("everseen dedup --header -k name -t '||'", "id||name\n1||a\n2||a\n"),
              Prints("id||name\n1||a\n"));
  EXPECT_THAT(sh("everseen dedup --csv -k 2 -t '||'", "a\n"), Complains(2, "one byte"));
  EXPECT_THAT(sh("everseen dedup -k 2 -t ''", "a\n"), Complains(2, "empty"));
}

TEST_F(DedupHabits, ReadsNumbersInTheUnitThatIsGiven) {
  // By their digits, the first would be in seconds, and 50 years before the second.
  const std::string lines = "1764059400000000\ta\n1764059400\ta\n",
                    dedup = "everseen dedup --window 1h --time 1 -k 2 ";
  EXPECT_THAT(sh(dedup, lines), Prints("1764059400000000\ta\n"));
  EXPECT_THAT(sh(dedup + "--time-unit us --max-ahead 36500d --late pass -q", lines), Prints(lines));
  EXPECT_THAT(sh("everseen dedup --window 1h --time 1 -k 2 --time-unit week", lines),
              Complains(2, "s, ms, us, ns"));
  EXPECT_THAT(sh("everseen dedup --window 1h --time 1 -k 2 --time-unit ms", "12:30\tx\n"),
              Complains(4, "number of ms since 1970"));
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
