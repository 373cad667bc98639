// Clocks that are wrong by a day, or jump by one, of programs and of servers.

#include <chrono>
#include <string>
#include <thread>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/shifted_clock.hpp"

namespace everseen::test {
namespace {

using testing::Field;
using testing::HasSubstr;

class Clocks : public Shell {
 protected:
  void SetUp() override {
    if (shifted_clock_library().empty()) GTEST_SKIP() << "the clock of a sanitized program cannot be set";
  }
  /// A shell in which `yesterday` and `tomorrow` run a command with a clock that is a day off.
  [[nodiscard]] program_result run(const std::string& line, const std::string& store = "") const {
    return sh((store.empty() ? "" : "export EVERSEEN_STORE='" + store + "'; ") + in("yesterday", yesterday_) +
              in("tomorrow", tomorrow_) + line);
  }
  /// A small filter, so that it grows. It is made with right clocks: what is written before its name leads to
  /// it expires within two days by the server's.
  void create(const std::string& judge, const std::string& store) const {
    given("everseen create f -q --capacity 1000 --error-rate 1e-12 --judge " + judge + " --store " + store);
  }
  /// What two runs print together that judge the same lines at the same time, a day before and after now.
  [[nodiscard]] program_result race(const std::string& store) const {
    return run(
        "seq 300000 > lines; yesterday everseen dedup --filter f -q lines > one & "
        "tomorrow everseen dedup --filter f -q lines > other && wait $! && sort -n one other | cmp - lines",
        store);
  }
  /// A function of the shell.
  [[nodiscard]] static std::string in(const std::string& name, const shifted_clock& clock) {
    std::string text = name + "() { ";
    for (const auto& [variable, value] : clock.environment()) text += variable + "='" + value + "' ";
    return text + "\"$@\"; }; ";
  }

  shifted_clock yesterday_{-std::chrono::days(1)}, tomorrow_{std::chrono::days(1)};
};

/// Sets a clock forward and back by a day until it is destroyed.
std::jthread jumping(shifted_clock& clock) {
  return std::jthread([&clock](const std::stop_token& end) {
    for (int days = 1; !end.stop_requested(); days = -days) {
      clock.set(std::chrono::days(days));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

// Promise: a line without a time is never late, though the clock was ahead in an earlier run (dedup, Lines
// without times).
TEST_F(Clocks, ThatWereADayAheadMakeNoLaterLineLate) {
  given("everseen create f --window 1h -q");
  EXPECT_THAT(run("seq 3 | tomorrow everseen dedup --filter f"), Prints("1\n2\n3\n"));
  EXPECT_THAT(run("seq 5 | everseen dedup --filter f"), Prints("4\n5\n"));
}

TEST_F(Clocks, ThatAreADayAheadAreNoExcuseForATimeThatOthersWouldFindInTheFuture) {
  const clock_server server(with_module());
  given("everseen create f --window 1h --judge server -q --store " + server->url());
  EXPECT_THAT(run("tomorrow everseen add f a", server->url()),
              Field("err", &program_result::err, HasSubstr("ahead")));
  EXPECT_THAT(run("everseen add f a", server->url()), Output("1 fresh, 0 seen\n"));
}

// Promise: clients whose clocks differ by days get fresh once for a key, wherever keys are judged
// (guarantees, Verdicts).
TEST_F(Clocks, OfClientsMayDifferByDaysWhereClientsJudge) {
  const redis_server server;
  create("client", server.url());
  EXPECT_THAT(race(server.url()), Output(""));
}

TEST_F(Clocks, OfClientsMayDifferByDaysWhereServersJudge) {
  const redis_server server(with_module());
  create("server", server.url());
  EXPECT_THAT(race(server.url()), Output(""));
}

TEST_F(Clocks, OfServersMayJumpWhileClientsJudge) {
  clock_server server;
  create("client", server->url());
  const std::jthread jumps = jumping(server.clock);
  EXPECT_THAT(race(server->url()), Output(""));
}

TEST_F(Clocks, OfServersMayJumpWhileServersJudge) {
  clock_server server(with_module());
  create("server", server->url());
  const std::jthread jumps = jumping(server.clock);
  EXPECT_THAT(race(server->url()), Output(""));
}

// Promise: a filter ends by the clock of the server, not by that of a client (redis, The end of a filter).
TEST_F(Clocks, OfClientsDoNotDecideWhenAFilterEnds) {
  clock_server server;
  EXPECT_THAT(
      run("yesterday everseen create f --expire 1h -q; everseen add f a -q; tomorrow everseen check f a",
          server->url()),
      Output("seen\ta\n"));
  server.clock.set(std::chrono::hours(2));
  EXPECT_THAT(run("yesterday everseen check f a", server->url()), Complains(2, "'f' has expired"));
}

// Promise: a filter in files ends by the clock of the machine (files, Durability).
TEST_F(Clocks, OfTheMachineDecidesWhenAFilterInFilesEnds) {
  given("everseen create f --expire 1h -q && everseen add f a -q");
  EXPECT_THAT(run("tomorrow everseen check f a"), Complains(2, "'f' has expired"));
  EXPECT_THAT(run("yesterday everseen check f a"), Prints("seen\ta\n")) << "nothing was removed by a look";
}

TEST_F(Clocks, ThatAreYearsOffAreNamedWhereTheyMakeCertificatesInvalid) {
  const tls_files authority;
  const redis_server server(redis_server::options{.tls = &authority});
  tomorrow_.set(std::chrono::years(40));
  yesterday_.set(-std::chrono::years(20));
  const std::string store = server.url("?retry_for=1s&ca=" + authority.ca() +
                                       "&cert=" + authority.client_cert() + "&key=" + authority.client_key());
  EXPECT_THAT(run("everseen list", store), Field("exit_code", &program_result::exit_code, 0));
  EXPECT_THAT(run("tomorrow everseen list", store), Complains(3, "certificate", "expired"));
  EXPECT_THAT(run("yesterday everseen list", store), Complains(3, "certificate", "not yet valid"));
}

}  // namespace
}  // namespace everseen::test
