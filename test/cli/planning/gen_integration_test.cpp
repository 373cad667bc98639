#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using testing::MatchesRegex;

class Gen : public Shell {};

TEST_F(Gen, PrintsWords) {
  EXPECT_THAT(sh("everseen gen words --count 1000 | grep -cE '^[a-z]{4,12}$'"), Prints("1000\n"));
}

TEST_F(Gen, PrintsTheRepeatsOfRandomWords) {
  // There are only 26^4 and 26^5 short words, so chance alone repeats 7.46 % of ten million, and 1.3 % of one
  // million.
  const program_result distinct = sh("everseen gen words --count 1M | LC_ALL=C sort -u | wc -l");
  EXPECT_NEAR(std::stod(distinct.out), 1e6 * (1 - 0.01302), 700);
}

TEST_F(Gen, RepeatsLinesOnPurpose) {
  const program_result distinct = sh("everseen gen ids --count 100k --repeats 25% | sort -u | wc -l");
  EXPECT_NEAR(std::stod(distinct.out), 75'000, 1000);
}

TEST_F(Gen, PrintsClicksAsJsonAndCsv) {
  EXPECT_THAT(
      sh("everseen gen clicks --count 1"),
      Prints(MatchesRegex("\\{\"id\":\"[0-9a-f]*\",\"time\":\"2025-01-01T00:00:00.000Z\",\"site\":\"[a-z]*\","
                          "\"country\":\"[A-Z]*\",\"user\":[0-9]*\\}\n")));
  EXPECT_THAT(
      sh("everseen gen clicks --count 1 --format csv --time-format ms --start 1700000000 | cut -d, -f2"),
      Prints("time\n1700000000000\n"));
}

TEST_F(Gen, DeliversClicksAgainALittleLater) {
  const program_result again =
      sh("everseen gen clicks --count 20k --repeats 10% --reach 50 | awk '"
         "seen[$0] { n++; if (NR - seen[$0] > 50) far++ } { if (!seen[$0]) seen[$0] = NR }"
         "END { print n, far + 0 }'");
  EXPECT_NEAR(std::stod(again.out), 2000, 300);
}

TEST_F(Gen, PrintsTimesOutOfOrderAndLate) {
  const std::string times =
      " --format csv --time-format ms --start 1700000000 --rate 1000 | tail -n+2 | cut -d, -f2 | "
      "awk '{ back = 1700000000000 + NR - 1 - $1; if (back > most) most = back; late += back > 9000 }"
      " END { print (most <= limit) ? \"within\" : \"beyond\", late + 0 }' limit=";
  EXPECT_THAT(sh("everseen gen clicks --count 5k" + times + "0"), Prints("within 0\n"));
  EXPECT_THAT(sh("everseen gen clicks --count 5k --disorder 9s" + times + "9000"), Prints("within 0\n"));
  EXPECT_THAT(sh("everseen gen clicks --count 5k --late 100% --late-by 1000h" + times + "3600000000"),
              Prints("within 5000\n"));
}

TEST_F(Gen, RequiresAKindAndACount) {
  EXPECT_THAT(sh("everseen gen words"), Complains(2, "--count"));
  EXPECT_THAT(sh("everseen gen poems"), Complains(2, "poems", "words, clicks, ids"));
  EXPECT_THAT(sh("everseen gen words --count 1 --repeats 2"), Complains(2, "--repeats 2", "from 0 to 1"));
  EXPECT_THAT(sh("everseen gen ids --count 1 --range 5..1"), Complains(2, "--range 5..1"));
  EXPECT_THAT(sh("everseen gen clicks --count 1 --start noon"), Complains(2, "--start noon is not a time"));
  EXPECT_THAT(sh("everseen gen words --count 0"), Prints(""));
}

}  // namespace
}  // namespace everseen::test
