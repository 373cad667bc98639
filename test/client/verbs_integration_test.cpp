// The program with a running server as its store.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/serving.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/text_files.hpp"

namespace everseen::client {
namespace {

using test::program_result;
using test::serving;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class VerbsOverAServer : public testing::Test {
 protected:
  [[nodiscard]] program_result run(std::vector<std::string> words, const std::string& input = "") const {
    words.insert(words.begin(), test::everseen_program());
    words.insert(words.end(), {"--store", "everseen+unix:" + server_.path()});
    return test::run_program(words, {.input = input});
  }

  const serving server_;
};

TEST_F(VerbsOverAServer, RunsOfDedupPrintEachLineOnceBetweenThem) {
  EXPECT_EQ(run({"dedup", "--filter", "words"}, "a\nb\na\n").out, "a\nb\n");
  EXPECT_EQ(run({"dedup", "--filter", "words"}, "b\nc\n").out, "c\n");
  EXPECT_EQ(run({"dedup", "--filter", "recent", "--window", "1h", "--key-json", "/k", "--time-json", "/t"},
                "{\"k\":1,\"t\":100000}\n{\"k\":1,\"t\":100600}\n{\"k\":1,\"t\":200000}\n")
                .out,
            "{\"k\":1,\"t\":100000}\n{\"k\":1,\"t\":200000}\n");
}

TEST_F(VerbsOverAServer, FilterIsCreatedUsedRenamedAndDropped) {
  EXPECT_EQ(run({"create", "clicks", "--expire", "1h"}).exit_code, 0);
  EXPECT_THAT(run({"add", "clicks", "alice", "bob"}).out, StartsWith("2 fresh"));
  EXPECT_EQ(run({"check", "clicks", "alice", "carol"}).out, "seen\talice\nfresh\tcarol\n");
  const std::string info = run({"info", "clicks"}).out;
  EXPECT_THAT(info, HasSubstr("keys          2\n"));
  EXPECT_THAT(info, HasSubstr("expires "));
  EXPECT_THAT(info, HasSubstr("unix:" + server_.path()));
  EXPECT_THAT(run({"explain", "clicks", "alice"}).out, StartsWith("seen: "));
  EXPECT_EQ(run({"rename", "clicks", "visits"}).exit_code, 0);
  EXPECT_THAT(run({"list"}).out, HasSubstr("visits"));
  EXPECT_THAT(run({"top", "--count", "1", "--interval", "100ms"}).out,
              AllOf(HasSubstr("visits"), HasSubstr("server"), HasSubstr(server_.path())));
  EXPECT_EQ(run({"reset", "visits"}).exit_code, 0);
  EXPECT_THAT(run({"check", "visits", "alice"}).out, StartsWith("fresh"));
  EXPECT_EQ(run({"drop", "visits"}).exit_code, 0);
  EXPECT_THAT(run({"check", "visits", "alice"}).err, HasSubstr("visits"));
}

// Promise: a key that is too long for the server is unknown (operations, As a store).
TEST_F(VerbsOverAServer, KeyThatIsTooLongForTheServerIsReportedByItsLine) {
  ASSERT_EQ(run({"create", "clicks"}).exit_code, 0);
  const std::string lines = "a\n" + std::string((16 << 20) + 1, 'x') + "\nb\n";
  const auto fault = AllOf(HasSubstr("a key of 16777217 bytes is not one of up to 16777216 (line 2 "),
                           HasSubstr("the other 2 were judged"));
  const program_result added = run({"add", "clicks"}, lines);
  EXPECT_EQ(added.exit_code, 2);
  EXPECT_THAT(added.out, StartsWith("2 fresh"));
  EXPECT_THAT(added.err, fault);
  const program_result checked = run({"check", "clicks"}, lines);
  EXPECT_EQ(checked.exit_code, 2) << "0 would mean that all are seen";
  EXPECT_EQ(checked.out, "seen\ta\nseen\tb\n");
  EXPECT_THAT(checked.err, fault);
}

TEST_F(VerbsOverAServer, ExportImportsAsTheSameFilter) {
  (void)run({"create", "a"});
  (void)run({"add", "a", "alice"});
  const std::string copy = run({"export", "a"}).out;
  ASSERT_GT(copy.size(), 100U);
  EXPECT_EQ(run({"import", "b"}, copy).exit_code, 0);
  EXPECT_EQ(run({"check", "b", "alice", "bob"}).out, "seen\talice\nfresh\tbob\n");
  EXPECT_THAT(run({"import", "b"}, copy).err, HasSubstr("exists already"));
}

// Promise: dedup over everseen:// gets on over a link that carries little before it is cut, and prints each
// line once (operations, As a store).
TEST(VerbsOverAPoorLink, DedupPrintsEachLineOnce) {
  const test::redis_server redis({"--appendonly", "no"});
  const serving server(redis.unix_url());
  test::cutting_proxy proxy(static_cast<std::uint16_t>(std::stoul(server.port())));
  proxy.cut_every(test::cutting_proxy::direction::to_server, 60'000);
  std::string input, expected;
  for (int i = 0; i < 40'000; ++i) {
    const std::string line = "a line as long as people have them " + std::to_string(i) + '\n';
    input += line;
    expected += line;
    if (i % 3 == 0) input += line;
    if (i % 7 == 0) input += "a line as long as people have them " + std::to_string(i / 2) + '\n';
  }
  const auto run = [&](const std::string& text) {
    return test::run_program({test::everseen_program(), "dedup", "--filter", "words", "--on-outage", "hold",
                              "--store", "everseen://127.0.0.1:" + std::to_string(proxy.port())},
                             {.input = text});
  };
  const program_result got = run(input);
  EXPECT_EQ(got.exit_code, 0) << got.err;
  EXPECT_TRUE(got.out == expected) << got.out.size() << " bytes instead of " << expected.size();
  EXPECT_GT(proxy.connections(), 30U);
  EXPECT_EQ(run(input + "one more\n").out, "one more\n");
}

TEST(VerbsOverAServerWithUsers, WhoMayNotKnowTheSeedGetsNoWrongAnswer) {
  const serving server("mem:", {"--user", "root:r:admin", "--user", "writer:w:write"});
  const auto run = [&](std::vector<std::string> words, const std::string& user) {
    words.insert(words.begin(), test::everseen_program());
    words.insert(words.end(), {"--store", "everseen+unix:" + server.path() + user});
    return test::run_program(words);
  };
  const std::string root = "?user=root&password=r", writer = "?user=writer&password=w";
  for (const char* name : {"clicks", "empty"}) (void)run({"create", name}, root);
  EXPECT_THAT(run({"add", "clicks", "alice"}, writer).out, StartsWith("1 fresh"));
  for (const char* name : {"clicks", "empty"})
    for (const char* verb : {"explain", "export"}) {
      std::vector<std::string> words = {verb, name};
      if (words[0] == "explain") words.emplace_back("alice");
      const program_result got = run(words, writer);
      EXPECT_EQ(got.out, "") << verb << ' ' << name;
      EXPECT_THAT(got.err, HasSubstr("right 'admin'"));
      EXPECT_EQ(got.exit_code, 2);
      EXPECT_EQ(run(words, root).exit_code, 0) << verb << ' ' << name;
    }
}

TEST_F(VerbsOverAServer, VerbsOfTheServersOwnStoreAreRefusedWithAdvice) {
  (void)run({"create", "a"});
  (void)run({"create", "b"});
  const std::string advice = "run the verb on the store of the server";
  EXPECT_THAT(run({"link", "a", "b"}).err, HasSubstr(advice));
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--end", "j", "--yes"}}) {
    std::vector<std::string> words = {"jobs", "a"};
    words.insert(words.end(), more.begin(), more.end());
    const program_result jobs = run(words);
    EXPECT_EQ(jobs.exit_code, 2);
    EXPECT_THAT(jobs.err, HasSubstr(advice));
  }
  test::text_files files;
  const std::string events = files.make("x\n");
  const program_result stream =
      run({"stream", "--from", events, "--filter", "a", "--to", files.directory() + "/fresh"});
  EXPECT_EQ(stream.exit_code, 2);
  EXPECT_THAT(stream.err, HasSubstr(advice));
}

}  // namespace
}  // namespace everseen::client
