#include "everseen/jobs/file/file_source.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/store/disk/disk.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

using checkpoints = std::map<std::string, checkpoint, std::less<>>;

class FileSource : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (directory_.path() / "events").string(); }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::trunc) << text; }
  void append(const std::string& text) const { std::ofstream(path(), std::ios::app) << text; }

  /// Continues after the last call, and settles everything.
  std::vector<std::string> read_on(const file_source::options& settings = {}) {
    file_source from(path(), settings);
    from.begin(reached_);
    std::vector<std::string> records;
    int idle = 0;
    for (source_batch batch; idle < 20;) {
      const source::state got = from.next(batch, wait_);
      if (got == source::state::ended) break;
      idle = got == source::state::records ? 0 : idle + 1;
      if (got != source::state::records) continue;
      for (const source_record& r : batch.records)
        records.push_back(std::to_string(r.position) + " " + std::string(r.bytes));
      const checkpoint reached = from.reached(batch);
      reached_.insert_or_assign(reached.lane, reached);
    }
    return records;
  }
  /// Continues, and crashes after a batch was claimed and before it was settled. Returns the state that was
  /// recorded before.
  void claim_and_crash() {
    file_source from(path());
    from.begin(reached_);
    source_batch batch;
    while (from.next(batch, milliseconds(0)) != source::state::ended)
      if (const auto known = from.known_before(batch)) reached_.insert_or_assign(known->lane, *known);
  }
  std::string error_of_reading_on() {
    try {
      read_on();
    } catch (const parameter_error& e) {
      return e.what();
    }
    return "none";
  }

  checkpoints reached_;

  milliseconds wait_{0};

 private:
  test::scratch_directory directory_;
};

TEST_F(FileSource, ReturnsRecordsWithTheirOffsets) {
  write("a\n\nlonger\nlast");
  EXPECT_THAT(read_on(), ElementsAre("0 a", "2 ", "3 longer", "10 last"));
  EXPECT_THAT(read_on(), ElementsAre());
}

TEST_F(FileSource, ContinuesWhereItWas) {
  write("a\nb\n");
  EXPECT_THAT(read_on(), ElementsAre("0 a", "2 b"));
  append("c\n");
  EXPECT_THAT(read_on(), ElementsAre("4 c"));
}

TEST_F(FileSource, DoesNotReturnTheLineOfFieldNamesAsARecord) {
  write("id,site\na\nb\n");
  EXPECT_EQ(file_source(path(), {.format = {.header = true}}).header(), "id,site");
  EXPECT_THAT(read_on({.format = {.header = true}}), ElementsAre("8 a", "10 b"));
  append("c\n");
  EXPECT_THAT(read_on({.format = {.header = true}}), ElementsAre("12 c"));
}

TEST_F(FileSource, DoesNotTrustAPartialLineOfFieldNames) {
  write("id,si");
  EXPECT_THROW(read_on({.format = {.header = true}}), format_error);
  int idle = 0;
  const auto write_the_rest = [&] {
    if (++idle == 2) append("te\na\n");
  };
  EXPECT_EQ(
      file_source(path(), {.format = {.header = true}, .follow = true, .idle = write_the_rest}).header(),
      "id,site");
  EXPECT_THAT(read_on({.format = {.header = true}}), ElementsAre("8 a"));
}

TEST_F(FileSource, WaitsForTheFirstLineOfAFollowedFileUntilItIsStopped) {
  write("");
  struct enough {};
  EXPECT_THROW(
      file_source(path(), {.format = {.header = true}, .follow = true, .idle = [] { throw enough(); }}),
      enough);
  EXPECT_EQ(file_source(path(), {.format = {.header = true}}).header(), std::nullopt);
}

TEST_F(FileSource, WaitsForTheRestOfALineOfFieldNamesFromAPipe) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  const descriptor writer(::open(path().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::write(writer.get(), "id,si", 5), 5);
  const auto write_the_rest = [&] { ASSERT_EQ(::write(writer.get(), "te\n", 3), 3); };
  EXPECT_EQ(file_source(path(), {.format = {.header = true}, .idle = write_the_rest}).header(), "id,site");
}

TEST_F(FileSource, AcceptsALineOfFieldNamesBeforeTheFirstRecord) {
  write("id,site\n");
  EXPECT_THAT(read_on({.format = {.header = true}}), ElementsAre());
  append("a\n");
  EXPECT_THAT(read_on({.format = {.header = true}}), ElementsAre("8 a"));
}

// Promise: a line break between the quotes of CSV belongs to its record (streams, Files).
TEST_F(FileSource, KeepsRecordsOfCsvTogether) {
  write("id,\"the\nname\"\n1,\"a\nb\"\n2,c\n");
  const file_source::options csv{.format = {'\n', true, true}};
  EXPECT_EQ(file_source(path(), csv).header(), "id,\"the\nname\"");
  EXPECT_THAT(read_on(csv), ElementsAre("14 1,\"a\nb\"", "22 2,c"));
  append("3,\"d\n\"");
  EXPECT_THAT(read_on(csv), ElementsAre("26 3,\"d\n\""));
}

// Promise: a compressed file is read on where the job was (streams, Files).
TEST_F(FileSource, ContinuesInACompressedFile) {
  write("a\nb\n");
  ASSERT_EQ(std::system(("gzip " + path() + " && mv " + path() + ".gz " + path()).c_str()), 0);
  wait_ = milliseconds(1'000);  // for a program
  EXPECT_THAT(read_on(), ElementsAre("0 a", "2 b"));
  EXPECT_THAT(read_on(), ElementsAre());
  ASSERT_EQ(std::system(("printf 'c\\n' | gzip >> " + path()).c_str()), 0);
  EXPECT_THAT(read_on(), ElementsAre("4 c"));
  EXPECT_THROW(file_source(path(), {.follow = true}), parameter_error);
}

// Promise: what follows the compressed part of an input is an error, unless it is compressed, too (streams,
// Files).
TEST_F(FileSource, ReturnsTheRecordsOfACompressedFileBeforeItRefusesWhatFollows) {
  for (const std::string program : {"gzip", "zstd", "bzip2", "xz", "lz4"}) {
    reached_.clear();
    ASSERT_EQ(std::system(("(printf 'a\nb\n' | " + program + " -c; printf 'c\n') > " + path()).c_str()), 0);
    wait_ = milliseconds(1'000);  // for a program
    file_source from(path());
    source_batch batch;
    std::size_t records = 0;
    std::string fault;
    try {
      for (auto got = source::state::records; got != source::state::ended;)
        if ((got = from.next(batch, wait_)) == source::state::records) records += batch.records.size();
    } catch (const format_error& e) {
      fault = e.what();
    }
    EXPECT_EQ(records, 2U) << program;
    EXPECT_THAT(fault,
                testing::AllOf(HasSubstr(path()), HasSubstr("after 4 bytes of text"), HasSubstr(program)));
    EXPECT_THROW((void)from.next(batch, wait_), format_error) << "again, with " << program;
  }
}

TEST_F(FileSource, RefusesAnEndBetweenQuotes) {
  write("1,a\n2,\"b\n3,c\n");
  try {
    read_on({.format = {'\n', true}});
    ADD_FAILURE();
  } catch (const format_error& e) {
    EXPECT_THAT(e.what(),
                testing::HasSubstr("line 2 of " + path() + " has a quotation mark that is not closed"));
  }
}

TEST_F(FileSource, ReportsTheLineNumberOfARecord) {
  write("a\nb\nc\n");
  EXPECT_EQ(file_source(path()).place_of("", 4), "line 3 of " + path());
}

TEST_F(FileSource, ReturnsALineThatWasTerminatedLaterOnce) {
  write("a\nb");
  EXPECT_THAT(read_on(), ElementsAre("0 a", "2 b"));
  append("\nc\n");
  EXPECT_THAT(read_on(), ElementsAre("4 c"));
}

TEST_F(FileSource, RefusesALineThatHasGrownSinceItWasRead) {
  write("a\nb");
  read_on();
  append("c\n");
  EXPECT_THAT(error_of_reading_on(), HasSubstr("had no newline"));
}

TEST_F(FileSource, ReturnsAnUnsettledLineWithoutAnEndAgain) {
  write("abc\nx\nabc");
  claim_and_crash();
  EXPECT_THAT(read_on(), ElementsAre("6 abc"));
}

TEST_F(FileSource, ReturnsALineThatWasTerminatedAfterItsClaimAgain) {
  write("abc\nx\nabc");
  claim_and_crash();
  append("\ny\n");
  EXPECT_THAT(read_on(), ElementsAre("6 abc", "10 y"));
}

// Promise: a last line that has grown since it was claimed is refused (streams, Files).
TEST_F(FileSource, RefusesALineThatHasGrownSinceItWasClaimed) {
  for (const std::string before : {"", "abc\nx\n"}) {
    reached_.clear();
    write(before + "abc");
    claim_and_crash();
    append("def");
    EXPECT_THAT(error_of_reading_on(), HasSubstr("had no newline"));
    append("\ny\n");
    EXPECT_THAT(error_of_reading_on(), HasSubstr("had no newline"));
    write(before + "ab");
    EXPECT_THAT(error_of_reading_on(), HasSubstr("had no newline"));
    write(before);
    EXPECT_THAT(error_of_reading_on(), HasSubstr("had no newline"));
  }
}

TEST_F(FileSource, LimitsAReadToOffsetsOf32Bits) {
  constexpr std::size_t most = std::size_t{1} << 32;
  for (const std::size_t carried :
       {std::size_t{0}, std::size_t{1} << 20, std::size_t{2'200'000'000}, block_reader::max_record_bytes}) {
    const std::size_t room = file_source::options{}.room_for(carried);
    EXPECT_GT(room, carried);
    EXPECT_LT(room, most);
  }
}

TEST_F(FileSource, WaitsForTheEndOfAFollowedLine) {
  write("a\nb");
  EXPECT_THAT(read_on({.follow = true}), ElementsAre("0 a"));
  append("c\n");
  EXPECT_THAT(read_on({.follow = true}), ElementsAre("2 bc"));
}

// Promise: another file of the same name is refused as a source (streams, Files).
TEST_F(FileSource, RefusesAnotherFileOfTheSameName) {
  write("a\nb\n");
  read_on();
  write("x\nb\nc\n");
  EXPECT_THAT(error_of_reading_on(), HasSubstr("does not begin like"));
  write("a\n");
  EXPECT_THAT(error_of_reading_on(), HasSubstr("is shorter"));
}

TEST_F(FileSource, ReadsRecordsLongerThanABlock) {
  const std::string longest(10'000, 'x');
  write("a\n" + longest + "\nb\n");
  std::vector<std::string> all = read_on({.block_bytes = 16});
  EXPECT_THAT(all, testing::Contains("2 " + longest));
}

TEST_F(FileSource, DetectsTruncationOfAFollowedFile) {
  write("a\nb\n");
  file_source from(path(), {.follow = true});
  from.begin({});
  source_batch batch;
  ASSERT_EQ(from.next(batch, milliseconds(0)), source::state::records);
  write("a\n");
  EXPECT_THROW((void)from.next(batch, milliseconds(0)), storage_error);
}

TEST_F(FileSource, DetectsThatAFollowedFileWasEmptiedAndGrewAgain) {
  write("a\nb\n");
  file_source from(path(), {.follow = true});
  from.begin({});
  source_batch batch;
  ASSERT_EQ(from.next(batch, milliseconds(0)), source::state::records);
  write("c\nd\n");
  EXPECT_THROW((void)from.next(batch, milliseconds(0)), storage_error);
}

// Promise: a rotated file is read to its end (streams, Files).
TEST_F(FileSource, ReadsLinesAppendedToARotatedFile) {
  write("a\n");
  file_source from(path(), {.follow = true, .rotated_for = milliseconds(200)});
  from.begin({});
  source_batch batch;
  ASSERT_EQ(from.next(batch, milliseconds(0)), source::state::records);
  std::filesystem::rename(path(), path() + ".1");
  write("of the new file\n");
  EXPECT_EQ(from.next(batch, milliseconds(0)), source::state::nothing_yet);
  std::ofstream(path() + ".1", std::ios::app) << "late\nunend";
  ASSERT_EQ(from.next(batch, milliseconds(0)), source::state::records);
  EXPECT_EQ(batch.records.front().bytes, "late");
  try {
    while (from.next(batch, milliseconds(20)) == source::state::nothing_yet) continue;
    ADD_FAILURE();
  } catch (const storage_error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("5 bytes"), testing::HasSubstr("--job")));
  }
}

}  // namespace
}  // namespace everseen
