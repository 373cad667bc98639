// How verbs wait for a store, and what they report meanwhile.

#include <csignal>
#include <deque>
#include <thread>

#include "test/cli/shell.hpp"
#include "test/support/places.hpp"

namespace everseen::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class StoreWait : public Shell {
 protected:
  /// A process that has the filter f open for writing until its input ends.
  class writer {
   public:
    explicit writer(program_setup setup)
        : adds_({test::everseen_program(), "add", "f", "--verdicts"}, [&] {
            setup.piped_input = true;
            return setup;
          }()) {
      adds_.write("a\n");
      EXPECT_TRUE(adds_.waits_to_say("\ta\n"));
    }
    void close() {
      adds_.close_input();
      EXPECT_EQ(adds_.wait().exit_code, 0);
    }

   private:
    running_program adds_;
  };

  /// Waits until `program` writes `text` to standard error, or ends.
  static void wait_for_error(const running_program& program, std::string_view text) {
    while (program.err().find(text) == std::string::npos && !program.has_ended())
      std::this_thread::sleep_for(10ms);
  }

  void SetUp() override { given("everseen create f -q; echo b > b; everseen create other -q"); }
};

// Promise: a filter in files has one writer at a time, and the error of a second one names the first (files,
// Readers and writers).
TEST_F(StoreWait, NamesTheWritingProcess) {
  writer first(setup());
  for (const char* verb :
       {"add f b", "dedup --filter f b", "reset f", "drop f", "rebuild f < b", "rename f g", "link other f",
        "stream --filter f --from b --to -", "stream --filter f --from b --to - --on-outage hold"})
    EXPECT_THAT(
        sh(std::string("everseen ") + verb).err,
        AllOf(ContainsRegex("process [0-9]+ \\(everseen\\) is writing to .*/store/f"), HasSubstr("--wait")))
        << verb;
  EXPECT_THAT(sh("everseen check f a"), Prints("seen\ta\n"));
  first.close();
}

TEST_F(StoreWait, EndsWithTheOtherWriter) {
  for (const char* verb : {"link other f --wait && everseen link --off f", "add f b -q --wait",
                           "dedup --filter f b --wait", "stream --filter f --from b --to - --wait",
                           "stream --filter f --from b --to - --on-outage hold --wait",
                           "jobs f --end stream --wait", "rename f g --wait && everseen rename g f"}) {
    writer first(setup());
    running_program second({"bash", "-c", std::string("everseen ") + verb}, setup());
    wait_for_error(second, "waiting");
    EXPECT_FALSE(second.has_ended()) << verb;
    first.close();
    const program_result done = second.wait();
    EXPECT_EQ(done.exit_code, 0) << verb;
    EXPECT_THAT(done.err, ContainsRegex("everseen: waiting: process [0-9]+ \\(everseen\\) is writing to "))
        << verb;
  }
}

TEST_F(StoreWait, KeepsTheFilterCreatedWhileTheExpiredOneWasInUse) {
  given("everseen drop f; everseen create f --expire 5s -q");
  writer first(setup());
  std::this_thread::sleep_for(5s);
  program_setup piped = setup();
  piped.piped_input = true;
  running_program second({test::everseen_program(), "dedup", "--filter", "f", "--wait"}, piped);
  second.write("early\n1\n");
  second.close_input();
  wait_for_error(second, "is writing to");
  second.send(SIGSTOP);
  ASSERT_TRUE(second.waits_to_stop());
  first.close();
  given("everseen create f -q; seq 1000 | everseen add f -q");
  second.send(SIGCONT);
  const program_result done = second.wait();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "early\n");
  EXPECT_THAT(sh("(echo early; seq 1000) | everseen check f").out, Not(HasSubstr("fresh")));
}

TEST_F(StoreWait, IsAsLongAsConfigured) {
  writer first(setup());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(sh("everseen add f b --wait --timeout 500ms"), Complains(3, "is writing to"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 500ms);
  first.close();
}

TEST_F(StoreWait, EndsByASignal) {
  writer first(setup());
  running_program second({test::everseen_program(), "add", "f", "b", "--wait"}, setup());
  std::this_thread::sleep_for(300ms);
  second.send(SIGINT);
  EXPECT_EQ(second.wait(10s).exit_code, 128 + SIGINT);
  first.close();
}

TEST_F(StoreWait, IsReportedAfterASecondAndNotBefore) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(sh("everseen info f --store redis://127.0.0.1:1 --timeout 500ms").err,
              Not(HasSubstr("waiting")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s) << "without --timeout it is 10 s";
  std::vector<std::string> commands = {"bench --store 'redis://127.0.0.1:1?retry_for=4s'"};
  for (const char* verb : {"info f", "list", "add f a", "check f a", "create g", "export f -o x", "counts f",
                           "dedup --filter f b", "stream --from b --to - --filter f", "plan --keys 1M"})
    commands.push_back(std::string(verb) + " --store redis://127.0.0.1:1 --timeout 4s");
  std::deque<running_program> running;
  for (const std::string& each : commands)
    running.emplace_back(std::vector<std::string>{"bash", "-c", "everseen " + each}, setup());
  for (std::size_t i = 0; i < commands.size(); ++i)
    EXPECT_THAT(
        running[i].wait().err,
        AllOf(HasSubstr("everseen: waiting: redis at 127.0.0.1:1: cannot connect"), HasSubstr("tried for")))
        << commands[i];
}

TEST_F(StoreWait, IsReportedForAServerThatAcceptsAndIsSilent) {
  for (const char* verb : {"list --timeout 3s", "bench", "serve --listen unix:./s"}) {
    const std::string line = R"(python3 -c '
import socket, subprocess, sys
s = socket.create_server(("127.0.0.1", 0))
store = "redis://127.0.0.1:%d?timeout=9s&retry_for=9s" % s.getsockname()[1]
waiting = subprocess.Popen(["everseen", *sys.argv[1:], "--store", store], stderr=subprocess.PIPE, text=True)
for line in waiting.stderr:
  print(line, end="", file=sys.stderr)
  if "no answer" in line: break
waiting.kill()' )" + std::string(verb);
    const program_result silent = run_program({"bash", "-c", line}, setup());  // sh() leaves such lines out
    EXPECT_THAT(silent.err, HasSubstr(": no answer yet")) << verb;
  }
}

}  // namespace
}  // namespace everseen::test
