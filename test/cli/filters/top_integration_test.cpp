#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The names of filters in the order of the table.
std::vector<std::string> filters_of(const nlohmann::json& table) {
  std::vector<std::string> names;
  for (const auto& each : table["filters"]) names.push_back(each["name"]);
  return names;
}

class Top : public Shell {};

TEST_F(Top, ShowsWhatAFilterHolds) {
  given(
      "everseen create clicks --capacity 1000 -q && everseen create urls -q && seq 1 300 | everseen add urls "
      "-q");
  const std::string words = "everseen top --count 1 --interval 100ms";
  EXPECT_THAT(sh(words),
              Prints(AllOf(HasSubstr("filter     new keys "), HasSubstr("clicks         0 /s "),
                           HasSubstr("urls           0 /s              300 "), HasSubstr("every 100ms"),
                           Not(HasSubstr("server")), Not(HasSubstr("\x1b")))));
  const auto table = nlohmann::json::parse(sh(words + " --json").out);
  EXPECT_THAT(filters_of(table), ElementsAre("clicks", "urls"));
  EXPECT_EQ(table["filters"][1]["keys"], 300);
  EXPECT_EQ(table["filters"][1]["keys_per_s"], 0);
  EXPECT_TRUE(table["servers"].empty());
}

TEST_F(Top, PutsTheBusiestFilterFirst) {
  const redis_server server;
  given("for f in a b c; do everseen create $f -q --store " + server.url() + "; done");
  // Until a table shows it: how many keys are added between two tables depends on the machine.
  EXPECT_THAT(
      sh("export EVERSEEN_STORE=" + server.url() +
         "; (while true; do n=$((n + 1000)); seq $n $((n + 999)) | everseen add b -q; done 2>/dev/null) & "
         "adds=$!; "
         "everseen top --json --interval 100ms | grep -m 1 -o "
         "'^.*\"filters\":.{\"name\":\"b\",\"keys_per_s\":[0-9]'; "
         "kill $adds"),
      Output(HasSubstr("\"b\",\"keys_per_s\":")));
}

TEST_F(Top, ShowsADamagedFilterBesideTheOthers) {
  given("everseen create good -q && everseen create bad -q && everseen create worse -q");
  given("for f in $(find store -type f -path '*bad*'); do printf nonsense > \"$f\"; done");
  EXPECT_THAT(sh("everseen top --count 1 --interval 100ms"),
              Prints(AllOf(HasSubstr("bad     cannot be read: "), HasSubstr("good           0 /s"))));
}

TEST_F(Top, CountsWhatItsServersDo) {
  const redis_server server;
  given("everseen create f -q --store " + server.url());
  const auto table =
      nlohmann::json::parse(sh("everseen top --count 1 --interval 100ms --json --store " + server.url()).out);
  ASSERT_EQ(table["servers"].size(), 1U);
  EXPECT_GE(table["servers"][0]["clients"], 1);
  EXPECT_GT(table["servers"][0]["commands_per_s"], 0);  // its own
  EXPECT_GT(table["servers"][0]["bytes"], 0);
}

}  // namespace
}  // namespace everseen::test
