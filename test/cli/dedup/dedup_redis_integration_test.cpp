// `everseen dedup --filter` with a filter on a Redis server: created filters and messages.

#include <csignal>
#include <string>

#include "test/cli/shell.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

template <typename Matcher>
auto Notes(Matcher text) {
  return AllOf(Field("exit_code", &program_result::exit_code, 0), Field("err", &program_result::err, text));
}

class DedupRedis : public Shell {
 protected:
  void SetUp() override { server_.run({"CONFIG", "SET", "appendonly", "yes"}); }

  /// With the server as the store.
  program_result on_redis(const std::string& line, const std::string& options = "") const {
    return sh("export EVERSEEN_STORE='" + server_.url(options) + "'; " + line);
  }

  redis_server server_;
};

TEST_F(DedupRedis, RefusesToPromiseThatNoLineIsLostAndMakesNoFilter) {
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter new -o out"),
              Complains(2, "--output", "stream --job"));
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter new --on-crash repeat"),
              Complains(2, "leave out --on-crash repeat"));
  EXPECT_EQ(server_.run({"DBSIZE"}), "0");
}

TEST_F(DedupRedis, WarnsAsCreateDoesWhereItCreatesTheFilter) {
  server_.run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto first = on_redis("printf 'a\\nb\\na\\n' | everseen dedup --filter urls");
  EXPECT_THAT(first, Notes(AllOf(HasSubstr("warning: "), HasSubstr("allkeys-lru"), HasSubstr("noeviction"))));
  EXPECT_EQ(first.out, "a\nb\n");
  EXPECT_THAT(on_redis("printf 'b\\nc\\n' | everseen dedup --filter urls"), Prints("c\n"))
      << "not every time";
}

// Promise: on servers, the run after one that was killed says how many lines may be missing (dedup, Runs that
// end early).
TEST_F(DedupRedis, SaysHowManyLinesARunThatWasKilledMayHaveLost) {
  given("everseen gen ids --count 100k --range 1..1G > ids");
  const std::string dedup = "everseen dedup --filter urls --error-rate 1e-12 ids | cat > ";
  EXPECT_EQ(on_redis(dying_at("half_put") + dedup + "first").exit_code, 128 + SIGKILL);
  const auto second = on_redis(dedup + "second");
  EXPECT_THAT(second,
              Notes(AllOf(HasSubstr("a run over the filter 'urls' that began at 20"),
                          HasSubstr("of its last lines may be missing"), HasSubstr("everseen stream"))));
  const std::size_t number = second.err.find("up to ") + 6;
  const auto reported = std::stoul(second.err.substr(number));
  const auto lost = std::stoul(sh("cat first second | grep -cvxFf - ids || true").out);
  EXPECT_GT(lost, 0U);
  EXPECT_GE(reported, lost);
  EXPECT_LE(reported, 64U << 10) << "the lines of a block";
  EXPECT_THAT(on_redis(dedup + "third"), Notes(IsEmpty())) << "it is said once";
}

TEST_F(DedupRedis, RunsAndSaysSoWhereNoMarkOfTheRunCanBeKept) {
  given("mkdir -p .local/state/everseen && touch .local/state/everseen/runs");
  const auto run = on_redis("echo a | everseen dedup --filter urls");
  EXPECT_THAT(run, Notes(AllOf(HasSubstr("if this run is killed, the next one will not know it"),
                               HasSubstr(".local/state/everseen/runs"))));
  EXPECT_EQ(run.out, "a\n");
  given("cd .local/state/everseen; rm runs; mkdir runs; chmod 311 runs");
  EXPECT_THAT(on_redis("echo b | " + without_root() + "everseen dedup --filter urls"),
              Notes(AllOf(HasSubstr("will not know it"), HasSubstr("Permission denied"))));
  EXPECT_THAT(on_redis("echo b | everseen dedup --filter urls --on-outage fail -q"), Prints(IsEmpty()));
}

TEST_F(DedupRedis, SaysNothingOfRunsThatEndInOrderOrAreStillThere) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer holds signals back from a thread that waits for a mutex";
#endif
  test::program_setup live = setup();
  live.piped_input = true;
  test::running_program first(
      {"bash", "-c", "EVERSEEN_STORE='" + server_.url() + "' exec everseen dedup --filter urls"}, live);
  first.write("a\n");
  ASSERT_TRUE(first.waits_to_say("a\n"));
  EXPECT_EQ(on_redis("echo b | everseen dedup --filter urls").out, "b\n");
  EXPECT_THAT(on_redis("echo c | everseen dedup --filter urls"), Prints("c\n"));
  first.send(SIGTERM);
  EXPECT_EQ(first.wait().exit_code, 128 + SIGTERM);
  EXPECT_THAT(on_redis("echo d | everseen dedup --filter urls"), Prints("d\n"));
  EXPECT_THAT(sh("ls -A .local/state/everseen/runs"), Prints(IsEmpty()));
}

// Promise: dedup creates no filter in place of a lost one (redis, What holds for all filters on Redis).
TEST_F(DedupRedis, CreatesNoNewFilterInPlaceOfALostOne) {
  redis_server judging({"--appendonly", "yes", "--loadmodule", redis_module()});
  const auto there = [&](const std::string& line) {
    return sh("export EVERSEEN_STORE=" + judging.url() + "; " + line);
  };
  for (const std::string judge : {"server", "client"}) {
    ASSERT_EQ(there("echo a | everseen dedup --filter urls --judge " + judge).exit_code, 0);
    const std::string header = judging.run({"KEYS", "everseen:{????????????????????????????????}"});
    ASSERT_EQ(judging.run({"DEL", header}), "1") << header;
    EXPECT_THAT(there("echo a | everseen dedup --filter urls"),
                AllOf(Complains(4, header + " is missing", "Restore the filter from an export, or drop it"),
                      Field("out", &program_result::out, IsEmpty())));
    EXPECT_EQ(judging.run({"EXISTS", header}), "0");
    EXPECT_EQ(there("everseen drop urls").exit_code, 0) << "as it says";
    EXPECT_THAT(there("echo a | everseen dedup --filter urls"), Prints("a\n"));
    EXPECT_EQ(there("everseen drop urls").exit_code, 0);
  }
}

TEST_F(DedupRedis, CreatesNoNewFilterWhereTheNamesOfAllWereLost) {
  ASSERT_EQ(on_redis("echo a | everseen dedup --filter urls").exit_code, 0);
  ASSERT_EQ(server_.run({"DEL", "everseen:{names}"}), "1");
  for (const std::string run :
       {"echo a | everseen dedup --filter urls", "everseen create other --judge client"})
    EXPECT_THAT(on_redis(run),
                AllOf(Complains(4, "everseen:{names} is missing", "delete everseen:{names}:sign"),
                      Field("out", &program_result::out, IsEmpty())));
  EXPECT_EQ(server_.run({"DEL", "everseen:{names}:sign"}), "1");
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter urls"), Prints("a\n"));
}

// Promise: dedup says that a filter has ended and a new one begins (redis, The end of a filter).
TEST_F(DedupRedis, ReportsThatAnOldFilterHasEndedAndANewOneBegins) {
  ASSERT_EQ(on_redis("everseen create urls -q --expire 4s && everseen add urls -q a").exit_code, 0);
  wait_until([&] { return on_redis("everseen list").out.empty(); }, "the filter ends");
  const auto next = on_redis("echo a | everseen dedup --filter urls");
  EXPECT_THAT(next, Notes(AllOf(HasSubstr("'urls' has expired"), HasSubstr("a new one begins"))));
  EXPECT_EQ(next.out, "a\n");
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter urls"), Prints(IsEmpty())) << "and is kept";
}

// Promise: pass says that a server is full (dedup, Outages).
TEST_F(DedupRedis, PassingReportsAFullServerAndNotAnUnavailableOne) {
  program_setup with_pipe = setup();
  with_pipe.piped_input = true;
  running_program dedup({test::everseen_program(), "dedup", "--filter", "urls", "--store", server_.url(),
                         "--on-outage", "pass"},
                        with_pipe);
  dedup.write("a\n");
  ASSERT_TRUE(dedup.waits_to_say("a\n"));
  server_.run({"CONFIG", "SET", "maxmemory", "1"});
  // Both are new: whether a repeat is passed, too, depends on the filter's random seed. It is known without
  // the server if its partition is asked before the first refusal.
  dedup.write("b\nc\n");
  dedup.close_input();
  const auto full = dedup.wait();
  EXPECT_THAT(full, Notes(AllOf(HasSubstr("2 lines were printed without a verdict"), HasSubstr("maxmemory"),
                                Not(HasSubstr("away")))));
  EXPECT_EQ(full.out, "a\nb\nc\n");
}

// Promise: --existing creates no filter where one must be there (dedup, Every day).
TEST_F(DedupRedis, CreatesNoFilterWhereOneMustExist) {
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter urls --existing"),
              Complains(4, "the filter 'urls' does not exist", "--existing"));
  EXPECT_THAT(on_redis("everseen list"), Prints(""));
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter urls"), Prints("a\n"));
  EXPECT_THAT(on_redis("printf 'a\nb\n' | everseen dedup --filter urls --existing"), Prints("b\n"));
  server_.run({"FLUSHALL"});
  EXPECT_THAT(on_redis("echo a | everseen dedup --filter urls --existing"), Complains(4, "lost it"));
  EXPECT_THAT(on_redis("echo a | everseen dedup --existing"), Complains(2, "--filter"));
}

TEST_F(DedupRedis, PassingReportsMissingReplicasAndNotAnUnavailableServer) {
  ASSERT_EQ(on_redis("echo a | everseen dedup --filter urls").exit_code, 0);
  const auto alone = on_redis("echo b | everseen dedup --filter urls --on-outage pass",
                              "?wait=1&timeout=20s&retry_for=100ms");
  EXPECT_THAT(alone,
              Notes(AllOf(HasSubstr("1 lines were printed without a verdict"),
                          HasSubstr("of the 1 replicas that wait= requires"), Not(HasSubstr("away")))));
}

}  // namespace
}  // namespace everseen::test
