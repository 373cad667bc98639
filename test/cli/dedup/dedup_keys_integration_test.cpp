// Keys of lines for `everseen dedup`, and its handling of lines without a key.

#include <utility>

#include "test/cli/dedup/exact_dedup.hpp"
#include "test/cli/shell.hpp"
#include "test/support/text_files.hpp"

namespace everseen {
namespace {

using namespace std::string_literals;
using test::Complains;
using test::Notes;
using test::Output;
using test::Prints;
using testing::AllOf;
using testing::HasSubstr;

class DedupKeys : public test::Shell {
 protected:
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return test::text_of((directory() / name).string());
  }
};

// ---- keys

TEST_F(DedupKeys, ComparesTheRequestedFieldBetweenTabs) {
  EXPECT_THAT(sh("everseen dedup --key-field 2", "1\tx y\n2\tx y\n3\tx\n"), Prints("1\tx y\n3\tx\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter tab", "1\tx\n2\tx\n"), Prints("1\tx\n"));
  EXPECT_THAT(sh(R"(everseen dedup --key-field 2 --delimiter '\t')", "1\tx\n2\tx\n"), Prints("1\tx\n"));
}

TEST_F(DedupKeys, ComparesTheRequestedFieldBetweenOtherDelimiters) {
  const std::string input = "1,x,p\n2,x,q\n3,,r\n4,,s\n5,y\n";
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter ,", input), Prints("1,x,p\n3,,r\n5,y\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter=';'", "1;x\n2;x\n"), Prints("1;x\n"));
}

TEST_F(DedupKeys, RefusesAnEmptyDelimiter) {
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

TEST_F(DedupKeys, FindsNamesThatAreWrittenWithEscapes) {
  const std::string input =
      "{\"\\u7528\":\"a\",\"\\u65f6\":1700000000}\n{\"\xe6\x97\xb6\":1700000001,\"\xe7\x94\xa8\":\"a\"}\n";
  const std::string first = input.substr(0, input.find('\n') + 1);
  EXPECT_THAT(sh("everseen dedup --key-json /\xe7\x94\xa8", input), Prints(first));
  EXPECT_THAT(sh("everseen dedup --key /\xe7\x94\xa8 --missing-key drop", input), Prints(first));
  EXPECT_THAT(sh("everseen dedup --key /\xe7\x94\xa8 --window 10m --time-json /\xe6\x97\xb6", input),
              Prints(first));
}

// Promise: a quoted field of CSV may have delimiters, line breaks and doubled quotes in it (dedup, Keys and
// records).
TEST_F(DedupKeys, ComparesQuotedFieldsOfCsv) {
  const std::string input =
      "3,\"Smith, John\",Paris\r\n4,\"Smith, Jane\",Rome\r\n5,\"Smith, John\",Oslo\r\n"
      "6,\"two\nlines\",Bern\r\n7,\"two\nlines\",Bonn\r\n";
  const std::string once = "3,\"Smith, John\",Paris\r\n4,\"Smith, Jane\",Rome\r\n6,\"two\nlines\",Bern\r\n";
  EXPECT_THAT(sh("everseen dedup --csv -k 2", input), Prints(once));
  EXPECT_THAT(sh("everseen dedup --csv --header --key name", "id,name,city\r\n" + input),
              Prints("id,name,city\r\n" + once));
}

TEST_F(DedupKeys, ComparesSeveralFields) {
  const std::string input = "a\tb\t1\na\tc\t2\na\tb\t3\n";
  EXPECT_THAT(sh("everseen dedup -k 1 -k 2", input), Prints("a\tb\t1\na\tc\t2\n"));
  EXPECT_THAT(sh("everseen dedup --key-json /a --key-json /b", "{\"a\":1,\"b\":2}\n{\"b\":2,\"a\":1}\n"),
              Prints("{\"a\":1,\"b\":2}\n"));
}

TEST_F(DedupKeys, FindsFieldsByTheNamesInTheFirstLine) {
  EXPECT_THAT(sh("everseen dedup --header --key user", "id\tuser\n1\ta\n2\ta\n3\tb\n"),
              Prints("id\tuser\n1\ta\n3\tb\n"));
  EXPECT_THAT(sh("everseen dedup --header --key nobody", "id\tuser\n1\ta\n"),
              Complains(2, "--key nobody", "names no such field", "id, user"));
  EXPECT_THAT(sh("everseen dedup --header --key user", "user\tuser\n1\ta\n"),
              Complains(2, "--key user", "two fields", "number"));
  EXPECT_THAT(sh("everseen dedup --key user", "1\ta\n"), Complains(2, "--key user", "--header"));
  EXPECT_THAT(sh("printf 'id,user\\n1,a\\n' > a; printf 'id,user\\n2,a\\n3,b' > b; "
                 "everseen dedup --csv --header --key user a b"),
              Prints("id,user\n1,a\n3,b\n"));
}

// Promise: the header of the first non-empty file is printed first (dedup, Keys and records).
TEST_F(DedupKeys, PrintsAHeaderThatIsBlank) {
  EXPECT_THAT(sh("everseen dedup --header", "\na\na\n"), Prints("\na\n"));
  EXPECT_THAT(sh("everseen dedup -c --header", "\na\na\n"), Prints("\n      2 a\n"));
  EXPECT_THAT(sh("everseen dedup --header --filter f -o once", "\na\na\n"), Prints(""));
  EXPECT_THAT(sh("cat once"), Prints("\na\n"));
  EXPECT_THAT(sh("everseen dedup --header", ""), Prints("")) << "there is none";
  EXPECT_EQ(sh("everseen stream --from - --filter g --header --to -", "\na\na\n").out, "\na\n");
  EXPECT_EQ(
      sh("printf '\\na\\n' > in; everseen stream --from in --filter h --header --to events -q; cat events")
          .out,
      "\na\n");
}

TEST_F(DedupKeys, ReadsCsvFilesWhoseHeadersAreWrittenDifferently) {
  given(
      "printf '' > a; printf '\\xef\\xbb\\xbf\"id\",user\\r\\n1,x\\r\\n' > b; printf "
      "'id,\"user\"\\n2,x\\n3,y\\n' > c");
  EXPECT_THAT(sh("everseen dedup --csv --header --key user a b c"),
              Prints("\xef\xbb\xbf\"id\",user\r\n1,x\r\n3,y\n"));
  EXPECT_THAT(sh("everseen dedup --csv --header --key user -c a b c"),
              Prints("\xef\xbb\xbf\"id\",user\r\n      2 1,x\r\n      1 3,y\n"));
  EXPECT_THAT(sh("everseen dedup --csv --header --key user a a"), Prints(""));
  EXPECT_THAT(sh("printf 'user,id\\n' > d; everseen dedup --csv --header --key user a c d"),
              Complains(4, "d names other fields than that of c", "'user, id'", "'id, user'"));
}

TEST_F(DedupKeys, NamesFileAndRecordOfInvalidCsvQuotes) {
  EXPECT_THAT(sh("printf '1,a\\n2,5\" pipe\"\\n3,b\\n' > f; everseen dedup --csv --key 2 f"),
              AllOf(testing::Field(&test::program_result::out, "1,a\n"),
                    Complains(4, "record 2 of f", "quotation mark", "5\" pipe\"")));
  EXPECT_THAT(sh("everseen dedup --csv --key 2", "1,a\n2,\"b\n3,c\n"),
              AllOf(testing::Field(&test::program_result::out, "1,a\n"),
                    Complains(4, "standard input ends between quotation marks")));
}

// Promise: a line end of CSV is no part of a key, whichever it is (dedup, Keys and records).
TEST_F(DedupKeys, ComparesLinesOfCsvWithoutTheirEnds) {
  given("printf 'id,n\\r\\n1,a\\r\\n' > x; printf 'id,n\\n1,a\\n2,b\\n' > y");
  EXPECT_THAT(sh("everseen dedup --csv --header x y"), Prints("id,n\r\n1,a\r\n2,b\n"));
  EXPECT_THAT(sh("everseen dedup --csv -c x y"), Prints("      2 id,n\r\n      2 1,a\r\n      1 2,b\n"));
  EXPECT_THAT(sh("everseen dedup --csv --time 1 --window 1h", "1764059400,a\r\n1764059400,a\n"),
              Prints("1764059400,a\r\n"));
  EXPECT_THAT(sh("everseen dedup --csv", "\r\na\n\n"), Prints("\r\na\n")) << "a blank line is a key";
  given("everseen create f --capacity 100");
  EXPECT_THAT(sh("cat x y | everseen add f --csv"), Prints("3 fresh, 2 seen\n"));
  EXPECT_THAT(sh("everseen check f --csv", "2,b\r\n"), Prints("seen\t2,b\n", 0));
}

// Promise: a quotation mark that CSV does not allow is an error that names the record (dedup, Keys and
// records).
TEST_F(DedupKeys, RefusesInvalidQuotesOfCsvWhereTheLineIsTheKey) {
  const std::string input = "b\nx\"1\nb\nx\"1\nb\n";
  const auto Refuses = Complains(4, "record 2 of standard input", "quotation mark", "x\"1");
  EXPECT_THAT(sh("everseen dedup --csv", input), Refuses);
  EXPECT_EQ(sh("everseen dedup --csv", input).out, "b\n");
  EXPECT_EQ(sh("everseen dedup --csv --missing-key drop", input).out, "b\n");
  EXPECT_THAT(sh("everseen dedup --csv -c", input), Refuses);
  given("everseen create f --capacity 100");
  EXPECT_THAT(sh("everseen add f --csv", input), Refuses);
  const auto streamed = sh("everseen stream --from - --filter g --csv --to - --bad-events fail", input);
  EXPECT_EQ(streamed.exit_code, 4);
  EXPECT_THAT(streamed.err, testing::HasSubstr("quotation mark"));
  EXPECT_THAT(sh("everseen dedup --csv", "\"a\nb\"\n\"a\nb\"\r\n"), Prints("\"a\nb\"\n"));
}

TEST_F(DedupKeys, WarnsWhereCsvIsReadAsIfItHadNoQuotes) {
  EXPECT_THAT(sh("everseen dedup --delimiter , --key 2 2>&1", "1,\"a, b\"\n"),
              Prints(testing::HasSubstr("give --csv"), 0));
  EXPECT_THAT(sh("everseen dedup --delimiter , --key 2 2>&1", "1,a\n"), Prints("1,a\n"));
}

TEST_F(DedupKeys, RefusesAnInvalidRuleForKeys) {
  EXPECT_THAT(sh("everseen dedup --key-field 0", "a\n"), Complains(2, "--key-field", "0", "1 to"));
  EXPECT_THAT(sh("everseen dedup --key-json id", "{}\n"), Complains(2, "--key-json", "id", "write /id"));
  EXPECT_THAT(sh("everseen dedup --key-field 1 --key-json /id", "{}\n"),
              Complains(2, "JSON pointers", "numbers"));
}

TEST_F(DedupKeys, RefusesABadPointerWithAnyNumberOfThreads) {
  for (const char* threads : {"1", "4"})
    EXPECT_THAT(sh("everseen dedup --key-json /a~b --threads "s + threads, "{}\n"), Complains(2, "/a~b"))
        << threads;
}

// Promise: blank lines of JSON and CSV, and a header among the records, are left out and counted, and are
// faults only on request (dedup, Keys and records).
TEST_F(DedupKeys, LeavesOutLinesThatAreNoRecords) {
  const auto Leaves = [](const std::string& out, const auto&... words) {
    return AllOf(testing::Field("exit_code", &test::program_result::exit_code, 0),
                 testing::Field("out", &test::program_result::out, out),
                 testing::Field("err", &test::program_result::err, AllOf(testing::HasSubstr(words)...)));
  };
  const std::string json = "{\"id\":1}\n\n \t\r\n{\"id\":1}\n{\"id\":2}\n\n";
  EXPECT_THAT(sh("everseen dedup --key-json /id", json),
              Leaves("{\"id\":1}\n{\"id\":2}\n", "3 of 6 lines", "line 2", "is blank"));
  EXPECT_THAT(sh("everseen dedup -c --key-json /id", json),
              Leaves("      2 {\"id\":1}\n      1 {\"id\":2}\n", "3 of 6 lines", "is blank"));
  EXPECT_THAT(sh("everseen dedup --missing-key fail --key-json /id", json),
              Complains(4, "line 2", "is blank"));
  EXPECT_EQ(sh("everseen dedup --missing-key pass --key-json /id", json).out,
            "{\"id\":1}\n\n \t\r\n{\"id\":2}\n\n");
  EXPECT_THAT(sh("everseen dedup --csv --header --key id", "id,n\r\n1,a\r\n\r\nid,n\r\n1,b\r\n"),
              Leaves("id,n\r\n1,a\r\n", "2 of 4 lines", "record 3", "is blank"));
  EXPECT_THAT(sh("everseen dedup --header", "id\n1\nid\n1\n2\n"),
              Leaves("id\n1\n2\n", "1 of 4 lines", "line 3", "names the fields, once more"));
  EXPECT_THAT(sh("everseen dedup --key 1", "a\n\na\n\n"), Prints("a\n\n")) << "an empty field is a key";
  given("everseen create f --capacity 100");
  EXPECT_THAT(sh("everseen add f --key-json /id", json),
              Leaves("2 fresh, 1 seen\n", "3 of 6 lines", "is blank"));
  EXPECT_THAT(sh("everseen add f --missing-key fail --key-json /id", json),
              Complains(4, "line 2", "is blank"));
  EXPECT_THAT(sh("everseen stream --from - --filter g --key-json /id --to -", json),
              Leaves("{\"id\":1}\n{\"id\":2}\n", "2 fresh, 1 seen; 3 records were no events", "is blank"));
  EXPECT_EQ(sh("everseen stream --from - --filter h --key-json /id --to - --bad-events fail", json).exit_code,
            4);
}

TEST_F(DedupKeys, NamesTheDelimiterThatAHeaderSeemsToHave) {
  EXPECT_THAT(sh("everseen dedup --header --csv --key id", "id;n\n1;2\n"),
              Complains(2, "give --delimiter ';'"));
  EXPECT_THAT(sh("everseen dedup --header --csv --key id", "id\tn\n1\t2\n"),
              Complains(2, "give --delimiter tab"));
}

// Promise: input that is hardly lines of text, or has two kinds of line ends, is named on standard error,
// with what to do (dedup, Keys and records).
TEST_F(DedupKeys, WarnsOfInputThatIsHardlyLinesOfText) {
  EXPECT_THAT(sh("printf 'a\\nb\\na\\n' | iconv -t UTF-16 | everseen dedup"), Notes("UTF-16", "iconv"));
  EXPECT_THAT(sh("printf 'alpha\\nbeta\\ngamma\\n' | iconv -t UTF-16LE | everseen dedup"), Notes("UTF-16LE"));
  for (const char* key : {"id", "1"})
    EXPECT_THAT(
        sh("printf 'id,name\\n1,b\\n1,c\\n' | iconv -t UTF-16LE | everseen dedup --csv --header --key "s +
           key),
        Complains(4, "the first line of the input is text in UTF-16LE", "iconv -f UTF-16LE"));
  const std::string marked =
      "\xef\xbb\xbf"
      "a\na\n";
  EXPECT_THAT(sh("everseen dedup", marked), AllOf(Output(marked), Notes("byte order mark", "sed")));
  EXPECT_THAT(sh("everseen dedup -q", marked), Prints(marked));
  EXPECT_THAT(sh("everseen dedup", "A\r\nA\nB\r\n"), Notes("CR LF", "two lines", "sed"));
  given("printf 'A\\r\\n' > x; printf 'A\\n' > y; everseen create f --capacity 100");
  EXPECT_THAT(sh("everseen dedup x y"), Notes("CR LF", "in y"));
  given(
      "(seq 600000; seq 600000 | sed 's/$/\\r/') > joined; (seq 600000 | sed 's/$/\\r/'; seq 600000) > "
      "joined2");
  EXPECT_THAT(sh("everseen dedup joined > out"), Notes("CR LF", "in joined"));
  EXPECT_THAT(sh("everseen dedup joined2 > out"), Notes("CR LF", "in joined2"));
  EXPECT_THAT(sh("everseen dedup", "A\r\nA\r\nB\r\n"), Prints("A\r\nB\r\n"));
  const std::string parquet("PAR1\x15\x04\x15\n\0\0", 10);
  for (const char* verb : {"dedup", "dedup -c", "add f"})
    EXPECT_THAT(sh("everseen "s + verb, parquet), Notes("Parquet")) << verb;
  given("seq 3 > lines; tar cf lines.tar lines; printf '\\x89LZO\\0\\r\\n' > lines.lzo");
  EXPECT_THAT(sh("everseen dedup lines.tar > out"), Notes("lines.tar", "tar archive", "tar -xOf"));
  EXPECT_THAT(sh("everseen dedup lines.lzo > out"), Notes("lines.lzo", "lzop -dc"));
  EXPECT_THAT(sh("printf '7z\\xbc\\xaf\\x27\\x1c\\0\\n' | everseen dedup > out"),
              Notes("7z archive", "7z x"));
  EXPECT_THAT(sh("printf '\\x93NUMPY\\x01\\0v\\0\\n' | everseen dedup > out"), Notes("NumPy", "Python"));
  EXPECT_THAT(sh("everseen stream --from - --filter g --to -", parquet).err,
              HasSubstr("seems to be a Parquet"));
  EXPECT_THAT(sh("everseen dedup", "PAR1 is a bar\n"), Prints("PAR1 is a bar\n"));
}

// ---- lines without a key

TEST_F(DedupKeys, EndsAtALineWithoutAKeyAndNamesIt) {
  EXPECT_THAT(sh("everseen dedup --key-field 2", "1\tx\n2\ty\nodd one\n3\tz\n"),
              AllOf(Complains(4, "line 3", "no key", "odd one"),
                    testing::Field(&test::program_result::out, "1\tx\n2\ty\n")));
}

TEST_F(DedupKeys, EndsAtDamagedJsonAndAtJsonWithoutTheKey) {
  const std::string good = "{\"id\":1}\n";
  const auto fault = [&](const std::string& second) {
    return sh("everseen dedup --key-json /id", good + second + "\n");
  };
  EXPECT_THAT(fault("{\"id\":"), Complains(4, "line 2", "is not JSON"));
  EXPECT_THAT(fault("{\"no\":1}"), Complains(4, "line 2", "has no key"));
  EXPECT_THAT(fault("{"), Complains(4, "line 2", "only the beginning of a JSON value", "jq -c"));
  EXPECT_THAT(fault("[{"), Complains(4, "line 2", "only the beginning of a JSON value", "jq -c"));
  EXPECT_THAT(fault(R"({"id":"\ud800"})"), Complains(4, "line 2", "half of a surrogate pair"));
  EXPECT_THAT(fault(R"({"id":"\udc00\ud800"})"), Complains(4, "line 2", "half of a surrogate pair"));
  EXPECT_THAT(fault(R"({"id":"\ud83d\ude00","x":"\ud83d\ude00)"), Complains(4, "line 2", "is not JSON"));
  EXPECT_THAT(fault(R"({"id":"\q"})"), Complains(4, "line 2", "is not JSON"));
  EXPECT_THAT(fault("\xff\xfe"), Complains(4, "line 2", "UTF-8"));
  EXPECT_THAT(fault("[1]"), Complains(4, "line 2", "has no key", "there is no /id"));
  EXPECT_THAT(sh("everseen dedup --key-json /id", "\xef\xbb\xbf" + good),
              Complains(4, "line 1", "byte order mark", "sed"));
}

TEST_F(DedupKeys, ExplainsAnInvalidTimeInJson) {
  const auto fault = [&](const std::string& line) {
    return sh("everseen dedup --key-json /id --window 10m --time-json /at", line + "\n");
  };
  EXPECT_THAT(fault(R"({"id":1})"), Complains(4, "line 1", "has no time"));
  EXPECT_THAT(fault(R"({"id":1,"at":null})"), Complains(4, "line 1", "a time that cannot be read"));
  EXPECT_THAT(fault(R"({"id":1,"at":{"s":1}})"), Complains(4, "line 1", "a time that cannot be read"));
  EXPECT_THAT(fault(R"({"id":1,"at":"soon"})"), Complains(4, "line 1", "cannot be read"));
  EXPECT_THAT(fault(R"({"at":1700000000})"), Complains(4, "line 1", "has no key"));
}

TEST_F(DedupKeys, ComparesJsonValuesByTheirText) {
  EXPECT_THAT(sh("everseen dedup --key-json /id",
                 "{\"id\":null}\n{\"id\":\"null\"}\n{\"id\":1}\n{\"id\":\"1\"}\n{\"id\":1.0}\n"),
              Prints("{\"id\":null}\n{\"id\":1}\n{\"id\":1.0}\n"));
}

TEST_F(DedupKeys, IgnoresQuotesAroundFieldsUnlessTheInputIsCsv) {
  EXPECT_THAT(sh("everseen dedup --key-field 2 --delimiter ,", "1,\"a,b\"\n2,\"a,c\"\n"),
              testing::Field(&test::program_result::out, "1,\"a,b\"\n"));
}

TEST_F(DedupKeys, RefusesOptionsThatWouldHaveNoEffect) {
  EXPECT_THAT(sh("everseen dedup --delimiter ,", "a\n"), Complains(2, "--delimiter", "--key"));
  EXPECT_THAT(sh("everseen dedup --delimiter , --key-json /a", "{}\n"), Complains(2, "--delimiter", "--key"));
  EXPECT_THAT(sh("everseen dedup --missing-key drop", "a\n"), Complains(2, "--missing-key", "--key"));
  for (const char* option : {"--on-outage hold", "--wait", "--timeout 1s", "--judge server"})
    EXPECT_THAT(sh("everseen dedup "s + option, "a\n"),
                Complains(2, std::string(option).substr(0, std::string(option).find(' ')), "--filter"));
  for (const char* options : {"-c -u --repeated", "-c -d --repeated", "-d --repeated"})
    EXPECT_THAT(sh("everseen dedup "s + options, "a\n"), Complains(2, "--repeated"));
  given("everseen create f --capacity 100");
  for (const char* verb : {"add", "check"}) {
    for (const char* option : {"--missing-key drop", "--no-decompress"})
      EXPECT_THAT(sh("everseen "s + verb + " f a " + option),
                  Complains(2, std::string(option).substr(0, std::string(option).find(' ')), "lines"));
    EXPECT_THAT(sh("everseen "s + verb + " f --missing-key drop", "a\n"),
                Complains(2, "--missing-key", "--key"));
  }
}

TEST_F(DedupKeys, AdvisesNoOptionThatIsRefused) {
  const test::program_result result = sh("everseen dedup --key 2 --filter f -o out", "a\n");
  EXPECT_THAT(result, Complains(4, "--missing-key drop"));
  EXPECT_THAT(result.err, testing::Not(testing::HasSubstr("--missing-key pass")));
  EXPECT_THAT(sh("everseen dedup --key 2 --filter f", "a\n"), Complains(4, "--missing-key pass"));
}

TEST_F(DedupKeys, EndsAtTheSameLineWithAnyNumberOfThreads) {
  given(
      "(everseen gen ids --count 100k | sed 's/^/x\\t/'; echo odd; everseen gen ids --count 200k "
      "--seed 2 | sed 's/^/x\\t/') > lines");
  const std::string expected = sh("head -n 100000 lines | md5sum").out;
  for (const char* threads : {"1", "2", "4"}) {
    const auto result = sh("everseen dedup --error-rate 1e-12 --key-field 2 --threads "s + threads +
                           " lines > out; code=$?; md5sum < out; exit $code");
    EXPECT_THAT(result, Complains(4, "line 100001", "odd")) << threads;
    EXPECT_EQ(result.out, expected) << threads;
  }
}

TEST_F(DedupKeys, RemembersNothingAfterALineWithoutAKey) {
  given("(echo x 1; echo odd; everseen gen ids --count 200k | sed 's/^/x /') > lines");
  EXPECT_THAT(sh("everseen dedup --filter f --key-field 2 --delimiter ' ' --threads 4 lines > first"),
              Complains(4, "line 2"));
  given("sed -i 2d lines");
  given("everseen dedup --filter f --key-field 2 --delimiter ' ' --threads 4 lines > second");
  EXPECT_EQ(text_of("first"), "x 1\n");
  EXPECT_EQ(text_of("second"), test::first_occurrences(text_of("lines")).substr(4));
}

// Promise: lines that are dropped or printed for want of a key are counted on standard error, and a warning
// says so if no line has one (dedup, Keys and records).
TEST_F(DedupKeys, WarnsIfNoLineHasTheKey) {
  const std::string lines = "{\"id\":1}\n{\"id\":2}\n";
  given("everseen create f --capacity 100; everseen add f 1");
  for (const char* verb : {"dedup", "dedup -c", "dedup --filter g", "add f", "migrate f g2 --keys -"})
    EXPECT_THAT(
        sh("everseen "s + verb + " --key /nope --missing-key drop", lines).err,
        testing::AllOf(HasSubstr("everseen: warning: no line has a usable key, so all 2 were dropped; is the "
                                 "key right? The first: line 1 of standard input has no key"),
                       HasSubstr("there is no /nope")))
        << verb;
  EXPECT_THAT(sh("everseen dedup --key /nope --missing-key pass", lines),
              AllOf(Output(lines), Notes("warning", "all 2 were printed")));
  EXPECT_THAT(sh("everseen dedup --window 10m --key /id --time /at --missing-key drop", lines),
              AllOf(Output(""), Notes("no line has a usable key or time", "there is no /at")));
  EXPECT_THAT(sh("everseen stream --from - --filter s --key /nope --to - --bad-events skip", lines),
              AllOf(Output(""),
                    testing::Field(&test::program_result::err,
                                   AllOf(HasSubstr("2 records were no events; the first has no key"),
                                         HasSubstr("warning: 0 events"), HasSubstr("is the key right?")))));
  for (const char* verb : {"dedup", "dedup -c", "check f"})
    EXPECT_THAT(sh("everseen "s + verb + " -q --key /nope --missing-key drop", lines), Prints("")) << verb;
}

TEST_F(DedupKeys, PassesOrDropsLinesWithoutAKeyOnRequest) {
  const std::string input = "odd\n1\tx\nodd\n2\tx\n3\ty\n";
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key pass", input),
              AllOf(Output("odd\n1\tx\nodd\n3\ty\n"),
                    Notes("2 of 5 lines had no usable key and were printed", "line 1")));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key drop", input),
              AllOf(Output("1\tx\n3\ty\n"),
                    Notes("2 of 5 lines had no usable key and were dropped", "line 1", "'odd'")));
  EXPECT_THAT(sh("everseen dedup -q --key-field 2 --missing-key drop", input), Prints("1\tx\n3\ty\n"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key=fail", input), Complains(4, "line 1"));
  EXPECT_THAT(sh("everseen dedup --key-field 2 --missing-key skip", input),
              Complains(2, "--missing-key", "skip", "fail, pass, drop"));
}

// ---- what of a key counts

TEST_F(DedupKeys, MayIgnoreCaseAndBlanks) {
  const std::string input = "Alice\nalice \nBOB\n bob\nCarol\n";
  EXPECT_THAT(sh("everseen dedup -i --trim", input), Prints("Alice\nBOB\nCarol\n"));
  EXPECT_THAT(sh("everseen dedup -i", input), Prints(input));
  EXPECT_THAT(sh("everseen dedup -i --trim -c", input),
              Prints("      2 Alice\n      2 BOB\n      1 Carol\n"));
  EXPECT_THAT(sh("everseen dedup -t , -k 2 -i", "1,Alice\n2,ALICE\n"), Prints("1,Alice\n"));
}

TEST_F(DedupKeys, SkipsAndChecksAsUniq) {
  given("for i in $(seq 300); do echo \"$((i % 7)) $((i % 11))x $((i / 100))\"; done > f");
  const std::pair<std::string, std::string> equal_keys_together[] = {
      {"-f 1", "-k2"}, {"-f 2", "-k3"}, {"-s 2", "-t~ -k1.3"}, {"-w 3", "-t~ -k1.1,1.3"}};
  for (const auto& [options, order] : equal_keys_together) {
    given("LC_ALL=C sort -s " + order + " f > sorted");
    EXPECT_THAT(sh("diff <(everseen dedup " + options + " sorted) <(LC_ALL=C uniq " + options + " sorted)"),
                Prints(""))
        << options;
    EXPECT_THAT(sh("everseen dedup --repeated -q " + options + " sorted | wc -l"),
                Output(testing::Not("0\n")))
        << options;
  }
}

// Python's table may be older: its own letters fold as in ours.
TEST_F(DedupKeys, AreFoldedAsPythonFoldsThem) {
  given(R"(cat > letters.py <<'END'
import sys, unicodedata
letters = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs") and chr(c) != "\n"]
print(len({c.casefold() for c in letters}), file=open("classes", "w"))
sys.stdout.reconfigure(encoding="utf-8")
for c in letters: print(c)
for c in letters: print(c.casefold())
END
python3 letters.py > letters)");
  EXPECT_THAT(sh("everseen dedup --fold-case --error-rate 1e-12 -q letters | wc -l | diff - classes"),
              Prints(""));
}

TEST_F(DedupKeys, HaveOneFormForAllWhoUseAFilter) {
  given("printf 'Alice\\n' | everseen dedup --filter f -i -q");
  EXPECT_THAT(sh("everseen check f -i ALICE"), Prints("seen\talice\n"));
  EXPECT_THAT(sh("everseen check f -i || true", "ALICE\nBob\n"), Prints("seen\talice\nfresh\tbob\n"));
  EXPECT_THAT(sh("everseen add f --ignore-case BOB -q && everseen check f bob"), Prints("seen\tbob\n"));
}

}  // namespace
}  // namespace everseen
