// What `everseen dedup` takes for the key of a line, and what becomes of lines without one.

#include "test/cli/dedup/exact_dedup.hpp"
#include "test/cli/shell.hpp"
#include "test/support/text_files.hpp"

namespace everseen {
namespace {

using namespace std::string_literals;
using test::Complains;
using test::Prints;
using testing::AllOf;

class DedupKeys : public test::Shell {
 protected:
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return test::text_of((directory() / name).string());
  }
};

// ---- keys

TEST_F(DedupKeys, ComparesTheFieldBetweenTabsThatWasAskedFor) {
  EXPECT_THAT(sh("everseen dedup --key-field 2", "1\tx y\n2\tx y\n3\tx\n"), Prints("1\tx y\n3\tx\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter tab", "1\tx\n2\tx\n"), Prints("1\tx\n"));
  EXPECT_THAT(sh(R"(everseen dedup --key-field 2 --delimiter '\t')", "1\tx\n2\tx\n"), Prints("1\tx\n"));
}

TEST_F(DedupKeys, ComparesTheFieldBetweenTheDelimitersThatWereAskedFor) {
  const std::string input = "1,x,p\n2,x,q\n3,,r\n4,,s\n5,y\n";
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter ,", input), Prints("1,x,p\n3,,r\n5,y\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter=';'", "1;x\n2;x\n"), Prints("1;x\n"));
}

TEST_F(DedupKeys, RefusesADelimiterOfSeveralCharacters) {
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter ,,", "a,b\n"),
              Complains(2, "--delimiter", ",,", "one character"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter ''", "a,b\n"), Complains(2, "--delimiter"));
}

TEST_F(DedupKeys, ComparesTheJsonValueThatAPointerNames) {
  EXPECT_THAT(sh("everseen dedup --key-json /user/id", R"({"user":{"id":"a","n":1}})"
                                                       "\n"
                                                       R"({"user":{"n":2,"id":"a"}})"
                                                       "\n"
                                                       R"({"user":{"id":"b"}})"
                                                       "\n"),
              Prints(R"({"user":{"id":"a","n":1}})"
                     "\n"
                     R"({"user":{"id":"b"}})"
                     "\n"));
  EXPECT_THAT(sh("everseen dedup --key-json /ids/1", "{\"ids\":[1,2]}\n{\"ids\":[3,2]}\n"),
              Prints("{\"ids\":[1,2]}\n"));
}

TEST_F(DedupKeys, RefusesARuleForKeysThatCannotBe) {
  EXPECT_THAT(sh("everseen dedup --key-field 0", "a\n"), Complains(2, "--key-field", "0", "1 to"));
  EXPECT_THAT(sh("everseen dedup --key-json id", "{}\n"), Complains(2, "--key-json", "id", "/user/id"));
  EXPECT_THAT(sh("everseen dedup --key-field 1 --key-json /id", "{}\n"),
              Complains(2, "--key-field", "--key-json"));
}

TEST_F(DedupKeys, RefusesABadPointerWithAnyNumberOfThreads) {
  for (const char* threads : {"1", "4"})
    EXPECT_THAT(sh("everseen dedup --key-json /a~b --threads "s + threads, "{}\n"), Complains(2, "/a~b"))
        << threads;
}

// ---- lines without a key

TEST_F(DedupKeys, EndsAtALineWithoutAKeyAndNamesIt) {
  EXPECT_THAT(sh("everseen dedup --key-field 2", "1\tx\n2\ty\nodd one\n3\tz\n"),
              AllOf(Complains(4, "record 3", "no key", "odd one"),
                    testing::Field(&test::program_result::out, "1\tx\n2\ty\n")));
}

TEST_F(DedupKeys, EndsAtDamagedJsonAndAtJsonWithoutTheKey) {
  const std::string good = "{\"id\":1}\n";
  const auto fault = [&](const std::string& second) {
    return sh("everseen dedup --key-json /id", good + second + "\n");
  };
  EXPECT_THAT(fault("{\"id\":"), Complains(4, "record 2", "is not JSON"));
  EXPECT_THAT(fault("{\"no\":1}"), Complains(4, "record 2", "has no key"));
  EXPECT_THAT(fault(""), Complains(4, "record 2", "is not JSON"));
  EXPECT_THAT(fault("\xff\xfe"), Complains(4, "record 2", "UTF-8"));
  EXPECT_THAT(fault("[1]"), Complains(4, "record 2", "another shape"));
  EXPECT_THAT(sh("everseen dedup --key-json /id", "\xef\xbb\xbf" + good),
              Complains(4, "record 1", "byte order mark", "sed"));
}

TEST_F(DedupKeys, SaysWhatIsWrongWithATimeInJson) {
  const auto fault = [&](const std::string& line) {
    return sh("everseen dedup --key-json /id --window 10m --time-json /at", line + "\n");
  };
  EXPECT_THAT(fault(R"({"id":1})"), Complains(4, "record 1", "has no time"));
  EXPECT_THAT(fault(R"({"id":1,"at":null})"), Complains(4, "record 1", "neither a number nor a string"));
  EXPECT_THAT(fault(R"({"id":1,"at":{"s":1}})"), Complains(4, "record 1", "neither a number nor a string"));
  EXPECT_THAT(fault(R"({"id":1,"at":"soon"})"), Complains(4, "record 1", "cannot be read"));
  EXPECT_THAT(fault(R"({"at":1700000000})"), Complains(4, "record 1", "has no key"));
}

TEST_F(DedupKeys, ComparesJsonValuesByTheirText) {
  EXPECT_THAT(sh("everseen dedup --key-json /id",
                 "{\"id\":null}\n{\"id\":\"null\"}\n{\"id\":1}\n{\"id\":\"1\"}\n{\"id\":1.0}\n"),
              Prints("{\"id\":null}\n{\"id\":1}\n{\"id\":1.0}\n"));
}

TEST_F(DedupKeys, KnowsNoQuotesAroundFields) {
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter ,", "1,\"a,b\"\n2,\"a,c\"\n"),
              Prints("1,\"a,b\"\n"));
}

TEST_F(DedupKeys, RefusesOptionsThatWouldHaveNoEffect) {
  EXPECT_THAT(sh("everseen dedup --delimiter ,", "a\n"), Complains(2, "--delimiter", "--key-field"));
  EXPECT_THAT(sh("everseen dedup --delimiter , --key-json /a", "{}\n"),
              Complains(2, "--delimiter", "--key-field"));
  EXPECT_THAT(sh("everseen dedup --missing-key drop", "a\n"), Complains(2, "--missing-key", "--key-field"));
}

TEST_F(DedupKeys, EndsAtTheSameLineWithAnyNumberOfThreads) {
  given(
      "(everseen gen ids --count 100k | sed 's/^/x\\t/'; echo odd; everseen gen ids --count 200k "
      "--seed 2 | sed 's/^/x\\t/') > lines");
  const std::string expected = sh("head -n 100000 lines | md5sum").out;
  for (const char* threads : {"1", "2", "4"}) {
    const auto result = sh("everseen dedup --error-rate 1e-12 --key-field 2 --threads "s + threads +
                           " lines > out; code=$?; md5sum < out; exit $code");
    EXPECT_THAT(result, Complains(4, "record 100001", "odd")) << threads;
    EXPECT_EQ(result.out, expected) << threads;
  }
}

TEST_F(DedupKeys, RemembersNothingThatStandsBehindALineWithoutAKey) {
  given("(echo x 1; echo odd; everseen gen ids --count 200k | sed 's/^/x /') > lines");
  EXPECT_THAT(sh("everseen dedup --filter f --key-field 2 --delimiter ' ' --threads 4 lines > first"),
              Complains(4, "record 2"));
  given("sed -i 2d lines");
  given("everseen dedup --filter f --key-field 2 --delimiter ' ' --threads 4 lines > second");
  EXPECT_EQ(text_of("first"), "x 1\n");
  EXPECT_EQ(text_of("second"), test::first_occurrences(text_of("lines")).substr(4));
}

TEST_F(DedupKeys, PassesOrDropsLinesWithoutAKeyWhereAsked) {
  const std::string input = "odd\n1\tx\nodd\n2\tx\n3\ty\n";
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key pass", input), Prints("odd\n1\tx\nodd\n3\ty\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key drop", input), Prints("1\tx\n3\ty\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key=fail", input), Complains(4, "record 1"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key skip", input),
              Complains(2, "--missing-key", "skip", "fail, pass, drop"));
}

}  // namespace
}  // namespace everseen
