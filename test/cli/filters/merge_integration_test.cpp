#include <string>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Merge : public Shell {};

TEST_F(Merge, AddsTheKeysOfAllSiblings) {
  given("everseen create week -q && for d in mon tue; do everseen create $d --like week -q; done");
  given("seq 1 60 | everseen add mon -q; seq 41 100 | everseen add tue -q");
  EXPECT_THAT(sh("everseen merge week mon tue"),
              Prints(HasSubstr("merged 2 filters into week, which has about ")));
  EXPECT_THAT(sh("seq 1 100 | everseen check week -q"), Prints(IsEmpty()));
  EXPECT_THAT(sh("(seq 101 500 | everseen check week || true) | grep -c fresh"), Prints("400\n"));
  EXPECT_THAT(sh("everseen add week 7 -q; everseen merge week mon"),
              Prints(HasSubstr("merged 1 filter into week, which has about ")));
}

TEST_F(Merge, SaysThatAllBitsAreSet) {
  given("everseen create g --as guava64 --capacity 100 -q && everseen create h --like g -q");
  given("seq 20000 | everseen add h -q");
  EXPECT_THAT(sh("everseen merge g h"),
              Prints("merged 1 filter into g, which is full now: all of its bits are set\n"));
}

TEST_F(Merge, TakesWhatWorkersHaveExported) {
  given("everseen create week -q && everseen export week -o empty");
  for (const auto* part : {"1", "2"}) {
    const std::string p(part);
    given("everseen import part --store file:./" + p + " empty -q && seq " + p + "0 " + p +
          "9 | everseen add part --store file:./" + p + " -q && everseen export part --store file:./" + p +
          " -o " + p + ".everseen");
  }
  EXPECT_THAT(sh("cat 2.everseen | everseen merge week --from-export 1.everseen --from-export -"),
              Prints(HasSubstr("merged 2 filters into week, which has about ")));
  EXPECT_THAT(sh("everseen merge week part --from file:./1 -q; everseen check week 10 29"),
              Prints("seen\t10\nseen\t29\n"));
  given("head -c 200 1.everseen > half");
  EXPECT_THAT(sh("everseen merge week --from-export half"), Complains(4, "half"));
}

TEST_F(Merge, RefusesWhatIsNoSiblingAndWhatIsTooMuch) {
  given(
      "everseen create f --capacity 100 -q && everseen create g --capacity 100 -q && everseen create h "
      "--like f -q");
  EXPECT_THAT(sh("everseen merge f g"), Complains(2, "secret seed", "--like"));
  EXPECT_THAT(sh("everseen merge f"), Complains(2, "--from-export"));
  EXPECT_THAT(sh("everseen merge f none"), Complains(2, "none"));
  EXPECT_THAT(sh("everseen create i --like f --capacity 7"), Complains(2, "--like"));
  given("seq 1 90 | everseen add f -q; seq 101 190 | everseen add h -q");
  EXPECT_THAT(sh("everseen merge f h"), Complains(3, "do not fit into 'f'", "keys instead of at most 1"));
  EXPECT_THAT(sh("(seq 101 190 | everseen check f || true) | grep -c fresh"), Prints("90\n"));
}

TEST_F(Merge, TakesKeysFromRedisIntoFilesAndBack) {
  const redis_server server;
  given("everseen create far --store " + server.url() + " -q && seq 1000 | everseen add far -q --store " +
        server.url());
  given("everseen export far --store " + server.url() + " | everseen import near -q");
  given("seq 1001 2000 | everseen add far -q --store " + server.url());
  EXPECT_THAT(
      sh("everseen merge near far --from " + server.url() + " -q && seq 2000 | everseen check near -q"),
      Prints(IsEmpty()));
  given("everseen create far2 --like far -q --store " + server.url());
  EXPECT_THAT(sh("everseen merge far2 far --store " + server.url()),
              Prints(HasSubstr("merged 1 filter into far2, which has about ")));
  given("everseen add near 2001 -q");
  EXPECT_THAT(sh("everseen merge far2 near --from $EVERSEEN_STORE -q --store " + server.url() +
                 " && seq 2001 | everseen check far2 -q --store " + server.url()),
              Prints(IsEmpty()));
}

}  // namespace
}  // namespace everseen::test
