// Messages about refused input: each names the file, the record, the field and its value, and gives advice.

#include <fstream>
#include <string>
#include <vector>

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

struct refusal {
  std::string command;  // reads events.json, rows.csv or nums
  std::string input;    // the file's content
  int exit_code;
  std::vector<std::string> words;
};

std::string file_of(const std::string& command) {
  for (const char* name : {"events.json", "rows.csv", "nums"})
    if (command.find(name) != std::string::npos) return name;
  return "nothing";
}

class Messages : public Shell {
 protected:
  void SetUp() override {
    given(
        "everseen create f -q; everseen create w -q --window 10m; "
        "everseen create num -q --as guava64 --funnel long --capacity 1000; everseen create empty -q");
  }
  /// Runs each of them, and looks for all of the words in its last line.
  void expect(const std::vector<refusal>& all) const {
    for (const refusal& each : all) {
      std::ofstream(directory() / file_of(each.command), std::ios::binary) << each.input;
      const program_result done = sh("everseen " + each.command);
      EXPECT_EQ(done.exit_code, each.exit_code) << each.command;
      const std::string message = done.err.substr(0, done.err.size() - (done.err.empty() ? 0 : 1));
      const std::string last = message.substr(message.rfind('\n') + 1);
      EXPECT_THAT(last, testing::StartsWith("everseen: ")) << each.command << '\n' << done.err;
      for (const std::string& word : each.words) EXPECT_THAT(last, testing::HasSubstr(word)) << each.command;
    }
  }
};

const std::string drop_or_pass = "--missing-key drop skips such lines";
const std::string two = "{\"id\":1}\n";

// Promise: a record that is refused is named by file, number, field and value, and the message says what to
// do (dedup, Keys and records).
TEST_F(Messages, OfAMissingKeyNameTheRecordTheFieldAndTheRemedy) {
  const std::string bad = two + "{\"x\":1}\n";
  const std::vector<std::string> words = {
      "line 2 of events.json has no key: there is no /id; it is '{\"x\":1}'", drop_or_pass};
  expect({{"dedup --key /id events.json", bad, 4, words},
          {"dedup --count --key /id events.json", bad, 4, words},
          {"migrate f g --keys events.json --key /id", bad, 4, words},
          {"add f --key /id < events.json",
           bad,
           4,
           {"line 2 of standard input has no key: there is no /id; it is '{\"x\":1}'", drop_or_pass}},
          {"check f --key /id < events.json", bad, 4, {"line 2 of standard input", drop_or_pass}},
          {"stream --from events.json --filter s --key /id --to -",
           bad,
           4,
           {"line 2 of ", "events.json has no key: there is no /id; it is '{\"x\":1}'", "--bad-events skip"}},
          {"dedup --csv --header --key 3 rows.csv",
           "id,user\n1,\"a\nb\"\n",
           4,
           {"record 2 of rows.csv has no key: there is no field 3", drop_or_pass}},
          {"dedup --key 2 --delimiter , rows.csv",
           "1,a\n2\n",
           4,
           {"line 2 of rows.csv has no key: there is no field 2; it is '2'"}}});
}

TEST_F(Messages, OfInvalidJsonSaySo) {
  for (const std::string text : {"not json", "{\"id\":", "{\"x\":1} {\"id\":2}", "12 13", "[1,2] x",
                                 "\"a\" \"b\"", "{\"x\":1}]", "nul"})
    expect({{"dedup --key /id events.json",
             text + "\n",
             4,
             {"line 1 of events.json is not JSON; it is '" + text + "'", drop_or_pass}},
            {"add f --key /id < events.json", text + "\n", 4, {"line 1 of standard input is not JSON"}},
            {"stream --from events.json --filter s --key /id --to -",
             text + "\n",
             4,
             {"line 1 of ", "events.json is not JSON", "--bad-events skip"}}});
  for (const std::string text : {"[1]", "12", "\"id\"", "null", "{}", " {\"x\":1} ", "[]"})
    expect({{"dedup --key /id events.json",
             text + "\n",
             4,
             {"line 1 of events.json has no key: there is no /id; it is '" + text + "'"}}});
  expect({{"dedup --key /id events.json", "{\"id\":\"\xff\"}\n", 4, {"line 1 of events.json is not UTF-8"}}});
}

TEST_F(Messages, OfATimeNameItsFieldAndItsValue) {
  expect(
      {{"dedup --filter w --time 1 --key 2 --csv rows.csv",
        "soon,a\n",
        4,
        {"record 1 of rows.csv has a time that cannot be read: field 1 is 'soon'", drop_or_pass}},
       {"dedup --filter w --time 1 --key 2 --csv rows.csv",
        "2099-01-01T00:00:00Z,a\n",
        4,
        {"record 1 of rows.csv has a time too far ahead of the clock", "--max-ahead", "field 1 is '2099-"}},
       {"dedup --window 1m --late fail --time 1 --key 2 -t , rows.csv",
        "2025-01-01T00:10:00Z,a\n2025-01-01T00:00:00Z,b\n",
        4,
        {"line 2 of rows.csv is older than the window", "--late drop"}},
       {"add w a --time soon", "", 2, {"--time soon is not a time", "2026-11-25T08:30:00Z"}},
       {"add f a --time 2025-01-01T00:00:00Z", "", 2, {"--time", "for a filter with a window"}}});
}

TEST_F(Messages, OfAKeyThatTheFilterRefusesSayWhyAndWhere) {
  const std::string why = "the key 'x' is not a whole number of 64 bits";
  expect({{"dedup --filter num nums",
           "1\nx\n",
           4,
           {"line 2 of nums has a key that the filter cannot take", why, drop_or_pass}},
          {"add num < nums", "1\nx\n", 2, {why, "line 2 of standard input", "the other 1 were judged"}},
          {"add num 1 x", "", 2, {why, "key 2 of those given"}},
          {"check num < nums", "1\nx\n", 2, {why, "line 2 of standard input"}},
          {"rebuild num < nums",
           "1\nx\n",
           2,
           {why, "line 2 of standard input", "the filter keeps all its keys"}},
          {"migrate num num2 --keys nums --as guava64",
           "1\nx\n",
           2,
           {why, "line 2 of nums", "nothing was created"}},
          {"stream --from nums --filter num --to -", "1\nx\n", 4, {"line 2 of ", "nums has a key", why}}});
}

TEST_F(Messages, OfCsvNameTheRecord) {
  expect({{"dedup --csv --key 2 rows.csv",
           "1,a\n2,b\"c\"\n",
           4,
           {"record 2 of rows.csv has a quotation mark that CSV does not allow there", "it is '2,b\"c\"'"}},
          {"dedup --csv --key 2 rows.csv",
           "1,a\n2,\"b\n",
           4,
           {"rows.csv ends between quotation marks", "'2,\"b"}},
          {"dedup --csv --header --key user rows.csv",
           "id,name\n1,a\n",
           2,
           {"--key user: the first line names no such field; it names id, name"}},
          {"add f --header --key usr < rows.csv",
           "id\tuser\n1\ta\n",
           2,
           {"the first line names no such field", "did you mean user?"}}});
}

TEST_F(Messages, OfFilesThatAreNotFiltersNameTheFile) {
  expect({{"import g events.json", two, 4, {"events.json: ", "everseen export"}},
          {"import g --from guava events.json", two, 4, {"events.json: not a Guava filter"}},
          {"import g --from redisbloom events.json", two, 4, {"events.json: not a file of BF.LOADCHUNK"}},
          {"rebuild empty --from-export events.json", two, 4, {"events.json: ", "everseen export"}},
          {"import g < nums", "", 4, {"standard input: ", "cut off"}},
          {"import g missing", "", 3, {"missing", "No such file"}},
          {"migrate f g --keys missing", "", 3, {"missing", "No such file"}},
          {"rebuild f < nums", "", 2, {"no keys are given", "--empty"}},
          {"rebuild f nums", two, 2, {"'nums' would be a key", "Give the keys in it as < nums", "--yes"}}});
}

TEST_F(Messages, AreCountedSeparatelyFromLinesWithoutAKey) {
  std::ofstream(directory() / "events.json") << "{\"id\":1}\n{}\nbroken\n{\"id\":\n";
  EXPECT_THAT(sh("everseen dedup --key /id --missing-key drop --stats=s events.json; "
                 "jq -c '[.lines, .fresh, .without_key, .malformed]' s")
                  .out,
              testing::HasSubstr("[4,1,1,2]"));
  EXPECT_THAT(
      sh("everseen add f --key /id --missing-key drop < events.json").err,
      "everseen: 3 of 4 lines had no usable key and were dropped; the first: line 2 of standard input has no "
      "key: there is no /id; it is '{}'\n");
  EXPECT_THAT(sh("everseen check f --key /id --missing-key drop -q < events.json"), Prints(""));
  EXPECT_THAT(sh("everseen add f --key /id --missing-key pass < events.json"),
              Complains(2, "--missing-key pass is not known", "fail, drop"));
}

}  // namespace
}  // namespace everseen::test
