// What users are told about each verb: by its help, its page of the manual and the completion of shells; and
// that its examples work.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/verb/verbs.hpp"

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::cli {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

/// Examples run in an empty directory, each with its own setup.
class EveryVerb : public test::Shell {
 protected:
  /// An example for Redis alone gets a server, without keys of the previous example.
  std::string store_for(const verb& v) const {
    constexpr std::array<std::string_view, 5> redis_alone = {"attach", "bench", "link", "stream", "counts"};
    if (std::ranges::find(redis_alone, v.name) == redis_alone.end()) return "";
    server_.run({"FLUSHALL"});
    return "export EVERSEEN_STORE=" + server_.url() + "; ";
  }

 private:
  test::redis_server server_;
};

TEST_F(EveryVerb, HasExamplesThatWork) {
  for (const verb& v : all_verbs())
    for (const example& e : v.examples) {
      SCOPED_TRACE(e.command);
      const std::string store = store_for(v);
      given(store + "rm -rf ./* && " +
            (e.scene.empty() ? "true" : "{ " + std::string(e.scene) + "; } > /dev/null"));
      const test::program_result result = sh(store + std::string(e.command));
      EXPECT_EQ(result.exit_code, static_cast<int>(e.ends)) << result.err;
      EXPECT_FALSE(result.too_slow);
    }
}

TEST_F(EveryVerb, HasExamplesHelpAPageAndCompletion) {
  given("everseen man --all pages; for shell in bash zsh fish; do everseen completion $shell > $shell; done");
  std::vector<std::string> completions;
  for (const char* shell : {"bash", "zsh", "fish"})
    completions.push_back(sh(std::string("cat ") + shell).out);
  for (const verb& v : all_verbs()) {
    SCOPED_TRACE(v.name);
    const std::string name(v.name);
    EXPECT_FALSE(v.examples.empty());
    const test::program_result help = sh("everseen " + name + " --help");
    EXPECT_THAT(help, test::Prints(HasSubstr("usage: everseen " + name)));
    for (const example& e : v.examples) {
      EXPECT_THAT(e.command, HasSubstr("everseen " + name));
      EXPECT_THAT(help.out, HasSubstr(e.command));
    }
    for (const manual_entry& o : describe(v).options) EXPECT_THAT(help.out, HasSubstr(o.heading()));
    const std::string page = sh("everseen man " + name).out;
    EXPECT_THAT(page, AllOf(StartsWith(".TH \"EVERSEEN\\-"), HasSubstr(".SH NAME\neverseen\\-"),
                            HasSubstr(".SH SYNOPSIS\n"), HasSubstr(".SH EXAMPLES\n")));
    EXPECT_THAT(sh("cat pages/everseen-" + name + ".1"), test::Prints(page));
    EXPECT_THAT(completions, Each(HasSubstr(name)));
  }
}

}  // namespace
}  // namespace everseen::cli
