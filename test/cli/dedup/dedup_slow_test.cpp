// `everseen dedup` with amounts that take seconds.

#include "test/cli/shell.hpp"
#include "test/support/sanitizer.hpp"

namespace everseen {
namespace {

using test::Prints;

class DedupSlow : public test::Shell {};

TEST_F(DedupSlow, AcceptsALineOf300MB) {
  const std::string line = "(head -c 300000000 /dev/zero | tr '\\0' x; echo)";
  given(line + " > long");
  const std::string expected = sh("(echo a; cat long) | md5sum").out;
  EXPECT_THAT(sh("(echo a; cat long; echo a; cat long) | everseen dedup | md5sum"), Prints(expected));
  EXPECT_THAT(sh("echo a > a; everseen dedup a long a long | md5sum"), Prints(expected));
}

// Promise: without memory for a long record, all before it is printed and no part of it (dedup, Runs that end
// early).
TEST_F(DedupSlow, PrintsNoPartOfALineThatExceedsMemory) {
  const std::string limit = "ulimit -v 500000; ";
  if (sh(limit + "everseen --version").exit_code != 0) GTEST_SKIP() << "a sanitizer needs more";
  given("(echo a; head -c 300000000 /dev/zero | tr '\\0' x; echo) > long");
  for (int i = 0; i < 5; ++i)
    EXPECT_THAT(sh(limit + "everseen dedup --threads 4 long"),
                testing::AllOf(test::Complains(3, "out of memory"),
                               testing::Field(&test::program_result::out, testing::AnyOf("", "a\n"))));
}

TEST_F(DedupSlow, NeedsMemoryForTheFilterAndNotForTheLines) {
  if (test::is_sanitized) GTEST_SKIP() << "a sanitizer needs its own memory";
  // Five million different lines of 11 bytes; a hash set of them takes 300 MB and more.
  const auto result =
      sh("everseen gen ids --count 5M --range 1..1T | everseen dedup --capacity 1000 --stats=counts.json | "
         "wc -l");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::stoul(result.out), 4'999'900U);
  EXPECT_GT(result.peak_bytes, std::uint64_t{10} << 20) << "nothing was measured";
  EXPECT_LT(result.peak_bytes, std::uint64_t{150} << 20);
}

TEST_F(DedupSlow, AgreesWithSortOnMillionsOfWords) {
  given("everseen gen words --count 3M --repeats 10% > words");
  // sort loses the order of occurrence; comm shows the lines that only one output has.
  EXPECT_THAT(sh("export LC_ALL=C; comm -3 <(everseen dedup --error-rate 1e-12 words | sort) "
                 "<(sort -u words) | wc -l"),
              Prints("0\n"));
}

}  // namespace
}  // namespace everseen
