// The output and the counts of `everseen dedup`.

#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "everseen/dedup/dedup.hpp"

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

class Dedup : public test::Shell {
 protected:
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(directory() / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return test::text_of((directory() / name).string());
  }
};

// ---- records

TEST_F(Dedup, PrintsTheFirstOccurrenceOfEachLineInTheOrderOfTheInput) {
  EXPECT_THAT(sh("everseen dedup", "b\na\nb\nc\na\nb\n"), Prints("b\na\nc\n"));
}

TEST_F(Dedup, ReadsAPipeAsWellAsAFile) {
  EXPECT_THAT(sh("cat | everseen dedup", "b\na\nb\n"), Prints("b\na\n"));
}

TEST_F(Dedup, ReadsSeveralFilesAsOneStream) {
  write("1", "a\nb\n");
  write("2", "b\nc\n");
  EXPECT_THAT(sh("everseen dedup 1 2 1"), Prints("a\nb\nc\n"));
}

TEST_F(Dedup, ReadsStandardInputAtThePlaceOfTheDash) {
  write("1", "a\nb\n");
  write("2", "c\nd\n");
  EXPECT_THAT(sh("everseen dedup 1 - 2", "b\nx\nc\n"), Prints("a\nb\nx\nc\nd\n"));
}

TEST_F(Dedup, TreatsWordsAfterTwoDashesAsFiles) {
  write("--zero", "a\na\n");
  EXPECT_THAT(sh("everseen dedup -- --zero"), Prints("a\n"));
}

TEST_F(Dedup, AddsAMissingNewlineToTheLastLine) {
  EXPECT_THAT(sh("everseen dedup", "a\nb"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen dedup", "a\nb\na"), Prints("a\nb\n"));
}

TEST_F(Dedup, DoesNotJoinALineWithoutNewlineToTheNextFile) {
  write("1", "a\nb");
  write("2", "b\nc");
  EXPECT_THAT(sh("everseen dedup 1 2"), Prints("a\nb\nc\n"));
}

TEST_F(Dedup, TreatsACarriageReturnAsPartOfItsLine) {
  EXPECT_THAT(sh("everseen dedup -q", "a\r\na\na\r\n"), Prints("a\r\na\n"));
}

TEST_F(Dedup, TreatsNulBytesAsPartOfTheirLine) {
  EXPECT_THAT(sh("everseen dedup", "a\0b\na\0c\na\0b\n\0\n\0\0\n"s), Prints("a\0b\na\0c\n\0\n\0\0\n"s));
}

TEST_F(Dedup, WithZeroEndsRecordsAtNulBytesAndKeepsNewlines) {
  EXPECT_THAT(sh("everseen dedup -z", "a\nb\0c\0a\nb\0c"s), Prints("a\nb\0c\0"s));
  EXPECT_THAT(sh("everseen dedup --zero", "a\0a\0"s), Prints("a\0"s));
}

TEST_F(Dedup, PrintsNothingForEmptyInput) {
  write("empty", "");
  EXPECT_THAT(sh("everseen dedup"), Prints(""));
  EXPECT_THAT(sh("everseen dedup empty empty"), Prints(""));
  EXPECT_THAT(sh("cat | everseen dedup"), Prints(""));
}

// Also where the key is named by a first line, which an empty input does not have.
TEST_F(Dedup, EmptyTablesHaveNoKeysAndAreNoError) {
  write("empty", "");
  for (const std::string options :
       {"--csv --header --key id", "--header --key id --key site -t,",
        "--csv --header --key id --time at --window 1h", "--csv --header --key id --count"}) {
    EXPECT_THAT(sh("everseen dedup " + options + " empty empty"), Prints("")) << options;
    EXPECT_THAT(sh("everseen dedup " + options), Prints("")) << options;
  }
  sh("everseen create f");
  EXPECT_EQ(sh("everseen add f --csv --header --key id < empty").exit_code, 0);
  EXPECT_THAT(sh("everseen stream --from empty --filter f --csv --header --key id --to out"),
              AllOf(Output(""), Notes("empty is empty")));
  EXPECT_THAT(sh("everseen dedup --csv --header --key id", "\n1\n"),
              Complains(2, "the first line of the input is blank"));
}

TEST_F(Dedup, WarnsWhereNoLineHasTheDelimiterAndEachHasAnother) {
  for (const auto& [options, line, meant] :
       std::vector<std::array<std::string, 3>>{{"--key 1", "1|a", "'|'"},
                                               {"--key 1", "1 a", "' '"},
                                               {"--key 1", "1;a", "';'"},
                                               {"--csv --key 1", "1;a", "';'"},
                                               {"--csv --key 1", "1\ta", "tab"},
                                               {"-t, --key 1", "1;a", "';'"}})
    EXPECT_THAT(sh("everseen dedup " + options, line + "\n" + line + "b\n"),
                AllOf(Output(line + "\n" + line + "b\n"), Notes("has", "give --delimiter " + meant)))
        << options << ' ' << line;
  for (const auto& [options, input] : std::vector<std::array<std::string, 2>>{{"--key 1", "1\ta b\n2\n"},
                                                                              {"--key 1", "1\n2 3\n"},
                                                                              {"", "1 2\n"},
                                                                              {"--csv --key 1", "\"a;b\"\n"}})
    EXPECT_THAT(sh("everseen dedup " + options, input), Prints(input)) << options << ' ' << input;
}

TEST_F(Dedup, TreatsAnEmptyLineAsALine) {
  EXPECT_THAT(sh("everseen dedup", "\n\na\n\n"), Prints("\na\n"));
}

TEST_F(Dedup, DistinguishesLinesOfOneByteEach) {
  std::string every_byte;
  for (int c = 0; c < 256; ++c)
    if (c != '\n') every_byte.append(1, static_cast<char>(c)) += '\n';
  EXPECT_THAT(sh("everseen dedup -q", every_byte + every_byte), Prints(every_byte));
}

TEST_F(Dedup, ComparesLinesLongerThanABlockToTheirLastByte) {
  const std::string line(3 * dedup_block_bytes + 7, 'x');
  const std::string input = line + "1\n" + line + "2\n" + line + "1\n" + "short\n" + line + "2";
  const auto result = sh("everseen dedup | md5sum", input);
  EXPECT_THAT(result, Prints(sh("md5sum", line + "1\n" + line + "2\nshort\n").out));
}

TEST_F(Dedup, AgreesWithAnExactSetOnWords) {
  given("everseen gen words --count 200k --repeats 30% > words");
  EXPECT_EQ(sh("everseen dedup --error-rate 1e-12 words").out, test::first_occurrences(text_of("words")));
}

TEST_F(Dedup, AgreesWithAnExactSetOnTheIdsOfClicks) {
  given("everseen gen clicks --count 50k --repeats 20% > clicks");
  const auto id = [](std::string_view line) { return line.substr(0, line.find(',')); };
  EXPECT_EQ(sh("everseen dedup --error-rate 1e-12 --key-json /id clicks").out,
            test::first_occurrences(text_of("clicks"), id));
}

TEST_F(Dedup, PrintsTheSameWithAnyNumberOfThreads) {
  given("everseen gen words --count 300k --repeats 30% > words");
  const auto printed_by = [this](const char* threads) {
    return sh("everseen dedup --error-rate 1e-12 --threads "s + threads + " words | md5sum").out;
  };
  const std::string one = printed_by("1");
  for (const char* threads : {"2", "3", "4"}) EXPECT_EQ(printed_by(threads), one) << threads;
}

TEST_F(Dedup, WithRepeatedPrintsTheLinesThatAreOtherwiseDropped) {
  EXPECT_THAT(sh("everseen dedup --repeated", "a\nb\na\na\nc\n"), Prints("a\na\n"));
}

// ---- numbers

TEST_F(Dedup, RefusesNumbersOutOfBoundsAndNamesTheBounds) {
  for (const char* value : {"2", "0", "1e-40", "nan", "-5", "1e30", "''", "1e-400"})
    EXPECT_THAT(sh("everseen dedup --error-rate "s + value, "a\n"),
                Complains(2, "--error-rate", value, "1e-15 to 0.5"))
        << value;
  for (const char* value : {"0", "1e-40", "nan", "-5", "1e30", "''", "1.5"})
    EXPECT_THAT(sh("everseen dedup --capacity "s + value, "a\n"),
                Complains(2, "--capacity", value, "1 to 281474976710656"))
        << value;
  for (const char* value : {"0", "-1", "257", "many"})
    EXPECT_THAT(sh("everseen dedup --threads "s + value, "a\n"), Complains(2, "--threads", value, "1 to 256"))
        << value;
}

// ---- counts

TEST_F(Dedup, WithStatsCountsTheRunAsJsonOnStandardError) {
  const auto result =
      sh("everseen dedup --key-field 2 --missing-key drop --stats", "1\tx\n2\ty\n3\tx\nodd\n4\tz\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "1\tx\n2\ty\n4\tz\n");
  const auto stats = nlohmann::json::parse(result.err);
  EXPECT_EQ(stats.at("lines"), 5);
  EXPECT_EQ(stats.at("fresh"), 3);
  EXPECT_EQ(stats.at("seen"), 1);
  EXPECT_EQ(stats.at("late"), 0);
  EXPECT_EQ(stats.at("unknown"), 0);
  EXPECT_EQ(stats.at("without_key"), 1);
  EXPECT_EQ(stats.at("bytes"), 20);
  EXPECT_GE(stats.at("expected_false_drops"), 0.0);
  EXPECT_LE(stats.at("expected_false_drops"), 5e-6);
  EXPECT_GT(stats.at("seconds"), 0.0);
  EXPECT_LT(stats.at("seconds"), 600.0);
  EXPECT_EQ(stats.at("filter").at("name"), "dedup");
  EXPECT_EQ(stats.at("filter").at("error_rate"), 1e-6);
  EXPECT_LE(stats.at("filter").at("error_rate_now"), 1e-6);
  EXPECT_EQ(stats.at("filter").at("keys"), 3);
  EXPECT_GT(stats.at("filter").at("bytes"), 0);
  EXPECT_FALSE(stats.at("filter").at("layout").get<std::string>().empty());
}

TEST_F(Dedup, WithStatsAndAFileWritesTheCountsThere) {
  EXPECT_THAT(sh("everseen dedup --stats=counts.json", "a\na\n"), Prints("a\n"));
  EXPECT_EQ(nlohmann::json::parse(text_of("counts.json")).at("seen"), 1);
}

TEST_F(Dedup, DoesNotReadTheFileAfterStatsAsItsValue) {
  write("words", "a\na\n");
  const auto result = sh("everseen dedup --stats words");
  EXPECT_EQ(result.out, "a\n");
  EXPECT_EQ(nlohmann::json::parse(result.err).at("lines"), 2);
  EXPECT_EQ(text_of("words"), "a\na\n");
}

TEST_F(Dedup, ExpectsAsManyFalsePositivesAsTheFormulas) {
  given("everseen gen ids --count 500k --range 1..1T > ids");
  given("everseen dedup --error-rate 1e-3 --capacity 100k --stats=counts.json ids > once");
  const auto stats = nlohmann::json::parse(text_of("counts.json"));
  const double dropped = stats.at("lines").get<double>() - stats.at("fresh").get<double>();
  const double expected = stats.at("expected_false_drops");
  EXPECT_LE(expected, 500);
  EXPECT_NEAR(dropped, expected, 6 * std::sqrt(expected + 1));
}

TEST_F(Dedup, RefusesAnUnwritableFileForCountsBeforeItReadsAnything) {
  EXPECT_THAT(sh("everseen dedup --stats=nowhere/counts.json", "a\n"),
              AllOf(Complains(3, "nowhere/counts.json", "No such file"),
                    testing::Field(&test::program_result::out, "")));
}

TEST_F(Dedup, DecompressesItsInput) {
  given("everseen gen ids --count 10k --range 1..5k > ids; gzip -nk ids; everseen dedup ids > once");
  EXPECT_THAT(sh("everseen dedup ids.gz | cmp - once"), test::Prints(""));
  EXPECT_THAT(sh("everseen dedup < ids.gz | cmp - once"), test::Prints(""));
  EXPECT_THAT(sh("cat ids.gz | everseen dedup | cmp - once"), test::Prints(""));
  EXPECT_THAT(sh("everseen dedup --no-decompress ids.gz > raw && od -An -tx1 -N2 raw"),
              test::Prints(" 1f 8b\n"));
  EXPECT_THAT(sh("head -c 1000 ids.gz | everseen dedup > some"),
              test::Complains(4, "standard input is cut off or damaged", "gzip", "unexpected end of file"));
  for (const std::string program : {"gzip", "bzip2", "xz", "zstd", "lz4"})
    EXPECT_THAT(sh("(printf 'a\n' | " + program + " -c; printf 'c\n') | everseen dedup"),
                AllOf(test::Complains(4, "standard input", "after 2 bytes of text", program),
                      testing::Field(&test::program_result::out, "a\n")))
        << program;
}

TEST_F(Dedup, WritesBetweenOthersToAnOpenFile) {
  given("printf 'b\\na\\nb\\n' > lines");
  const std::string all = "begin\nb\na\nend\n";
  for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stdout --filter f"})
    EXPECT_THAT(sh("(echo begin; everseen dedup lines -o " + name + "; echo end) > all; cat all"),
                Prints(all))
        << name;
  EXPECT_THAT(sh("everseen dedup lines -o /dev/stdout >> all; cat all"), Prints(all + "b\na\n"));
  EXPECT_THAT(sh("everseen dedup lines --stats=/dev/stdout >> all; head -9 all | tail -3"),
              Prints("b\na\n{\n"));
  EXPECT_THAT(sh("everseen dedup lines -o ''"), Complains(2, "--output is empty"));
}

// Promise: dedup -o replaces a file only once all went well, also one that it reads (dedup, The output).
TEST_F(Dedup, WritesToAFileAfterSuccess) {
  given("printf 'b\\na\\nb\\n' > lines; chmod 640 lines; umask 022");
  EXPECT_THAT(sh("everseen dedup -o - lines; ls ./- 2>/dev/null || true"), Prints("b\na\n"));
  EXPECT_THAT(sh("everseen dedup -o once lines && cat once && stat -c %a once"), Prints("b\na\n644\n"));
  EXPECT_THAT(sh("everseen dedup -o lines lines && cat lines && stat -c %a lines"), Prints("b\na\n640\n"));
  EXPECT_THAT(sh("everseen dedup -o lines --key 2 lines; cat lines; ls -A"),
              testing::Field("out", &test::program_result::out, "b\na\nlines\nonce\n"));
  EXPECT_THAT(sh("everseen dedup -o /nowhere/f lines"), Complains(3, "/nowhere/f"));
  EXPECT_THAT(
      sh("ln -s /proc/self/fd/1 nameless; exec 1> gone; rm gone; everseen dedup -o nameless lines; cat "
         "<&1 >&2; test -L nameless"),
      testing::Field("exit_code", &test::program_result::exit_code, 0));
}

}  // namespace
}  // namespace everseen
