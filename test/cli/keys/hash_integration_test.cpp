#include <string>

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

/// The numbers are those of the original programs: test/foreign/data.
class Hash : public Shell {};

TEST_F(Hash, PrintsTheBitsOfEachArgument) {
  EXPECT_THAT(sh("everseen hash --as gozero --bits 20971520 a user:42"),
              Prints("9345213 9431439 19190324 9310537 3988670 10516136 19392275 8475523 4046962 1468189 "
                     "14601996 11037652 2328146 19056512\n"
                     "165956 16336714 6689207 10872178 10545237 13394558 18610969 16231164 18772549 11787545 "
                     "18298774 17697056 12621123 6204063\n"));
}

TEST_F(Hash, PrintsTheBitsOfEachLine) {
  EXPECT_THAT(sh("everseen hash --as bkdr --bits 2Gi --probes 3", "ab\n\nhello\n"),
              Prints("3105 12805 127459\n0 0 0\n99162322 792145550 450121588\n"));
}

TEST_F(Hash, AcceptsKeysThatEndWithNul) {
  EXPECT_THAT(sh("printf 'ab\\0hello\\0' | everseen hash --as bkdr --bits 2Gi --probes 1 -z"),
              Prints("3105\n99162322\n"));
}

TEST_F(Hash, PrintsTheHashWithoutANumberOfBits) {
  EXPECT_THAT(sh("everseen hash --as guava64 'hello world'"), Prints("0e617feb46603f53b163eb607d4697ab\n"));
  EXPECT_THAT(sh("everseen hash --as bkdr-php --probes 7 hello"),
              Prints("99162322 792145550 450121588 231896294 324939492 1193342022 1704348995\n"));
  EXPECT_THAT(sh("everseen hash --as uid-php hello"),
              Prints("290506 1671462 3212008 9215556 14287294 30392058 9005720\n"));
}

TEST_F(Hash, MatchesGuavasFunnels) {
  const std::string bits = "everseen hash --as guava64 --bits 3712 ";
  EXPECT_EQ(sh(bits + "--funnel long 7").out, sh("printf '\\7\\0\\0\\0\\0\\0\\0\\0\\n' | " + bits).out);
  EXPECT_EQ(sh(bits + "--funnel int -- -2").out, sh("printf '\\376\\377\\377\\377\\n' | " + bits).out);
  EXPECT_EQ(sh(bits + "--funnel chars ab").out, sh("printf 'a\\0b\\0\\n' | " + bits).out);
}

TEST_F(Hash, RefusesNumbersThatAFamilyDoesNotSupport) {
  EXPECT_THAT(sh("everseen hash a"),
              Complains(2, "--as", "gozero|bkdr|bkdr-php|uid-php|guava32|guava64|redisbloom"));
  EXPECT_THAT(sh("everseen hash --as guava a"), Complains(2, "--as", "guava", "guava64"));
  EXPECT_THAT(sh("everseen hash --as gozero --probes 3 a"), Complains(2, "gozero", "14 probes"));
  EXPECT_THAT(sh("everseen hash --as uid-php --bits 1M a"), Complains(2, "uid-php", "67108864 bits"));
  EXPECT_THAT(sh("everseen hash --as bkdr --probes 17 a"), Complains(2, "bkdr", "1 to 16 probes"));
  EXPECT_THAT(sh("everseen hash --as bkdr --bits 0 a"), Complains(2, "--bits"));
  EXPECT_THAT(sh("everseen hash --as bkdr --funnel int 1"), Complains(2, "--funnel", "guava"));
}

TEST_F(Hash, RefusesKeysOutsideTheirFunnel) {
  EXPECT_THAT(sh("everseen hash --as guava64 --funnel int 2147483648"),
              Complains(2, "2147483648", "32 bits"));
  EXPECT_THAT(sh("everseen hash --as guava64 --funnel long 1x"), Complains(2, "1x", "64 bits"));
  EXPECT_THAT(sh("everseen hash --as guava64 --funnel chars $'\\xff'"), Complains(2, "UTF-8"));
}

}  // namespace
}  // namespace everseen::test
