#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "everseen/cli/help/manual.hpp"
#include "everseen/cli/verb/verbs.hpp"

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::cli {
namespace {

/// The examples of help and manual, each in an empty directory with its own setup.
class Examples : public test::Shell {
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

TEST_F(Examples, OfEveryVerbWorkAsDocumented) {
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

TEST_F(Examples, ExistForEveryVerbAndCallIt) {
  for (const verb& v : all_verbs()) {
    EXPECT_FALSE(v.examples.empty()) << v.name;
    for (const example& e : v.examples)
      EXPECT_NE(e.command.find("everseen " + std::string(v.name)), std::string::npos) << e.command;
  }
}

TEST_F(Examples, AppearInTheHelpOfTheirVerb) {
  for (const verb& v : all_verbs()) {
    const test::program_result help = sh("everseen " + std::string(v.name) + " --help");
    EXPECT_THAT(help, test::Prints(testing::HasSubstr("usage: everseen " + std::string(v.name))));
    for (const example& e : v.examples) EXPECT_THAT(help.out, testing::HasSubstr(std::string(e.command)));
    for (const manual_entry& o : describe(v).options)
      EXPECT_THAT(help.out, testing::HasSubstr(o.heading())) << v.name;
  }
}

}  // namespace
}  // namespace everseen::cli
