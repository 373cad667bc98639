#include "everseen/jobs/file/file_sink.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

class FileSink : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (directory_.path() / "fresh").string(); }
  [[nodiscard]] std::string hidden() const { return (directory_.path() / ".fresh.unsettled").string(); }
  [[nodiscard]] std::string text() const { return text_of(path()); }
  static std::string text_of(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
  static std::string mine() { return "mine"; }
  static std::string of_another() { return "of another"; }
  /// Leaves the state of a job that is killed when `b` is settled in the ledger and not in the file.
  /// @return the note in the ledger
  [[nodiscard]] std::string killed_before_it_shows_b(const file_sink::mark& owner,
                                                     const std::string& b = "b") const {
    file_sink output(path(), owner);
    output.begin("");
    put(output, {{"a", verdict::fresh}});
    settle(output);
    put(output, {{b, verdict::fresh}});
    return output.commit({});
  }
  static void put(sink& output, const std::vector<std::pair<std::string, verdict>>& events,
                  std::uint64_t position = 0, const std::string& lane = "a") {
    source_batch batch;
    batch.lane = lane;
    std::vector<verdict> verdicts;
    for (const auto& [bytes, v] : events) {
      batch.records.push_back({bytes, position++});
      verdicts.push_back(v);
    }
    output.put({batch, verdicts, {}});
  }
  /// As a job does.
  static std::string settle(sink& output) {
    std::string note = output.commit({});
    output.settled();
    return note;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_.path()),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  test::scratch_directory directory_;
};

TEST_F(FileSink, WritesFreshAndUnknownRecords) {
  file_sink output(path(), mine);
  output.begin("");
  put(output, {{"a", verdict::fresh}, {"b", verdict::seen}, {"c", verdict::unknown}, {"d", verdict::late}});
  settle(output);
  EXPECT_EQ(text(), "a\nc\n");
}

// Promise: the file contains settled lines and nothing else (streams, Files).
TEST_F(FileSink, ShowsSettledLinesAndNothingElse) {
  {
    file_sink output(path(), mine);
    output.begin("");
    put(output, {{"a", verdict::fresh}});
    EXPECT_EQ(text(), "");
    static_cast<void>(output.commit({}));
    EXPECT_EQ(text(), "");
    output.settled();
    EXPECT_EQ(text(), "a\n");
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileSink, DiscardsUnsettledLinesAndKeepsEarlierContent) {
  std::ofstream(path()) << "before\n";
  std::string note;
  {
    file_sink output(path(), mine);
    output.begin("");
    put(output, {{"a", verdict::fresh}});
    note = settle(output);
    put(output, {{"lost in a crash", verdict::fresh}});
    static_cast<void>(output.commit({}));
  }
  file_sink again(path(), mine);
  again.begin(note);
  put(again, {{"b", verdict::fresh}});
  settle(again);
  EXPECT_EQ(text(), "before\na\nb\n");
}

// Promise: the next run completes what was settled before a crash (streams, Files).
TEST_F(FileSink, ShowsLinesThatWereSettledBeforeACrash) {
  std::string note;
  {
    file_sink output(path(), mine);
    output.begin("");
    put(output, {{"a", verdict::fresh}});
    settle(output);
    put(output, {{"b", verdict::fresh}});
    note = output.commit({});  // the answer to its settlement is lost, and more is put
    put(output, {{"c", verdict::fresh}});
  }
  EXPECT_EQ(text(), "a\n");
  std::ofstream(path(), std::ios::app) << 'b';  // the crash occurred while it was shown
  file_sink again(path(), mine);
  again.begin(note);
  EXPECT_EQ(text(), "a\nb\n");
  EXPECT_EQ(settle(again), note);
}

// Promise: what others append between two runs stays (streams, Files).
TEST_F(FileSink, KeepsDataThatOthersHaveAppendedSince) {
  std::string note;
  {
    file_sink output(path(), mine);
    output.begin("");
    put(output, {{"a", verdict::fresh}});
    note = settle(output);
  }
  std::ofstream(path(), std::ios::app) << "of another job\n";
  {
    file_sink again(path(), mine);
    again.begin(note);
    put(again, {{"b", verdict::fresh}});
    note = settle(again);
  }
  EXPECT_EQ(text(), "a\nof another job\nb\n");
  file_sink last(path(), mine);
  last.begin(note);
  EXPECT_EQ(settle(last), note);
}

// Promise: a worker takes back what another worker has settled, and keeps the rest (streams, Files).
TEST_F(FileSink, LeavesLinesThatAnotherWorkerHasSettled) {
  file_sink output(path(), mine);
  output.begin("");
  put(output, {{"a", verdict::fresh}});
  const std::string note = settle(output);
  put(output, {{"b", verdict::fresh}, {"c", verdict::fresh}, {"d", verdict::fresh}}, 10);
  put(output, {{"e", verdict::fresh}}, 10, "another lane");
  put(output, {{"f", verdict::fresh}, {"g", verdict::fresh}}, 20);
  static_cast<void>(output.commit({}));
  output.leave_settled(note, {{"a", {"a", 12}}});
  EXPECT_EQ(text(), "a\n");
  static_cast<void>(output.commit({}));
  output.leave_settled(note, {{"a", {"a", 21}}, {"another lane", {"another lane", 9}}});
  put(output, {{"h", verdict::fresh}}, 30);
  const std::string last = settle(output);
  EXPECT_EQ(text(), "a\ne\ng\nh\n");
  EXPECT_TRUE(last.starts_with("8 "));
}

TEST_F(FileSink, ShowsSettledLinesAfterALostAnswer) {
  file_sink output(path(), mine);
  output.begin("");
  put(output, {{"a", verdict::fresh}, {"b", verdict::fresh}}, 10);
  const std::string unheard = output.commit({});
  put(output, {{"c", verdict::fresh}, {"d", verdict::fresh}}, 12);
  static_cast<void>(output.commit({}));
  output.leave_settled(unheard, {{"a", {"a", 13}}});
  EXPECT_EQ(text(), "a\nb\n");
  settle(output);
  EXPECT_EQ(text(), "a\nb\nd\n");
}

TEST_F(FileSink, RefusesAFileThatLostSettledLines) {
  std::ofstream(path()) << "short";
  EXPECT_THROW(file_sink(path(), mine).begin("10 10:0"), parameter_error);
  EXPECT_THROW(file_sink(path(), mine).begin("x"), format_error);
  EXPECT_THROW(file_sink(path(), mine).begin("10"), format_error);
  EXPECT_EQ(text(), "short");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileSink, CreatesNoFileInPlaceOfAMissingOne) {
  file_sink output(path(), mine);
  EXPECT_THROW(output.begin("10 10:0"), parameter_error);
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_THROW(file_sink nowhere(path() + "/in/no/directory", mine), storage_error);
}

// Promise: a file that the job has not written is never cut (streams, Files).
TEST_F(FileSink, NeverCutsAFileThatItHasNotWritten) {
  std::string note;
  {
    file_sink output(path(), mine);
    output.begin("");
    put(output, {{std::string(5'000, 'a'), verdict::fresh}});
    note = settle(output);
  }
  const std::string others = std::string(5'000, 'b') + "\nmore of another worker\n";
  std::ofstream(path()) << others;
  {
    file_sink again(path(), mine);
    EXPECT_THROW(again.begin(note), parameter_error);
  }
  EXPECT_EQ(text(), others);
}

TEST_F(FileSink, RecognizesItsFileAfterMoreRunsAndACrash) {
  std::string note;
  for (int run = 0; run < 20; ++run) {
    file_sink output(path(), mine);
    output.begin(note);
    for (int i = 0; i <= run; ++i)
      put(output, {{std::string(static_cast<std::size_t>(run * 97), 'x'), verdict::fresh}});
    note = settle(output);
    put(output, {{"lost in a crash", verdict::fresh}});
  }
  file_sink last(path(), mine);
  last.begin(note);
  EXPECT_EQ(text().find("lost"), std::string::npos);
}

// Promise: no other job removes lines that were settled and are not in the file yet (streams, Files).
TEST_F(FileSink, KeepsSettledLinesOfAnotherJobThatAreNotShownYet) {
  std::string note_of_another;
  {
    file_sink output(path(), of_another);
    output.begin("");
    note_of_another = output.commit({});
  }
  const std::string note = killed_before_it_shows_b(mine);
  for (const std::string& begins_with : {std::string(), note_of_another}) {
    file_sink output(path(), of_another);
    EXPECT_THROW(output.begin(begins_with), parameter_error);
  }
  EXPECT_EQ(text(), "a\n");
  file_sink again(path(), mine);
  again.begin(note);
  EXPECT_EQ(text(), "a\nb\n");
}

TEST_F(FileSink, KeepsSettledLinesThoughItStartsWithoutANote) {
  const std::string note = killed_before_it_shows_b(mine);
  const std::string moved = path() + ".1";
  std::filesystem::rename(path(), moved);
  {
    file_sink output(path(), mine);
    EXPECT_THROW(output.begin(""), parameter_error);
  }
  std::filesystem::rename(moved, path());
  file_sink again(path(), mine);
  again.begin(note);
  EXPECT_EQ(text(), "a\nb\n");
}

// Promise: nothing is lost where others appended after an unfinished part (streams, Files).
TEST_F(FileSink, LosesNothingWhereOthersAppendedToAPartlyShownFile) {
  const std::string b(10'000, 'b');  // more than is compared with the note
  for (const std::string& appended : {std::string("x\n"), std::string(20'000, 'x')}) {
    std::filesystem::remove(path());
    const std::string note = killed_before_it_shows_b(mine, b);
    std::ofstream(path(), std::ios::app) << appended;
    const std::string before = text(), left = text_of(hidden());
    {
      file_sink output(path(), mine);
      EXPECT_THROW(output.begin(note), parameter_error);
    }
    EXPECT_EQ(text(), before);
    EXPECT_EQ(text_of(hidden()), left);
    std::filesystem::resize_file(path(), 2);
    file_sink again(path(), mine);
    again.begin(note);
    EXPECT_EQ(text(), "a\n" + b + "\n");
  }
}

/// A disk that cannot write one file back.
class disk_without_sync final : public disk {
 public:
  explicit disk_without_sync(std::string path) : path_(std::move(path)) {}
  int sync_file(int file, const std::filesystem::path& path) override {
    return fails && path == path_ ? EIO : disk::sync_file(file, path);
  }
  bool fails = true;

 private:
  std::string path_;
};

TEST_F(FileSink, KeepsTheOtherCopyUntilTheFileIsOnTheDisk) {
  disk_without_sync on(path());
  std::string note;
  {
    on.fails = false;
    file_sink output(path(), mine, on);
    output.begin("");
    put(output, {{"a", verdict::fresh}});
    note = output.commit({});
    on.fails = true;
    EXPECT_THROW(output.settled(), storage_error);
  }
  EXPECT_TRUE(text_of(hidden()).ends_with("\na\n"));
  {
    file_sink output(path(), mine, on);
    EXPECT_THROW(output.begin(note), storage_error);
  }
  EXPECT_TRUE(text_of(hidden()).ends_with("\na\n"));
  {
    on.fails = false;
    file_sink output(path(), mine, on);
    output.begin(note);
  }
  EXPECT_EQ(text(), "a\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileSink, RefusesASecondJobThoughTheFileOfTheFirstWasMoved) {
  file_sink first(path(), mine);
  first.begin("");
  put(first, {{"a", verdict::fresh}});
  const std::string moved = path() + ".1";
  std::filesystem::rename(path(), moved);
  {
    file_sink second(path(), of_another);
    EXPECT_THROW(second.begin(""), storage_error);
  }
  settle(first);
  EXPECT_EQ(text_of(moved), "a\n");
}

TEST_F(FileSink, ShowsNothingThatOthersHaveOverwritten) {
  file_sink output(path(), mine);
  output.begin("");
  put(output, {{"a", verdict::fresh}});
  static_cast<void>(output.commit({}));
  std::string other = text_of(hidden());
  other.front() = '1';
  std::ofstream(hidden()) << other;
  EXPECT_THROW(output.settled(), storage_error);
  EXPECT_EQ(text(), "");
}

TEST_F(FileSink, HidesUnsettledLinesFromUsersWithoutAccessToTheFile) {
  std::ofstream(path()) << "";
  std::ofstream(hidden()) << "";
  std::filesystem::permissions(path(), std::filesystem::perms(0640));
  std::filesystem::permissions(hidden(), std::filesystem::perms(0666));
  file_sink output(path(), mine);
  output.begin("");
  EXPECT_EQ(std::filesystem::status(hidden()).permissions(), std::filesystem::perms(0640));
}

TEST_F(FileSink, RefusesANameThatIsTooLongForTheHiddenFileBeforeAnythingIsPut) {
  file_sink output(path() + std::string(240, 'x'), mine);
  EXPECT_THROW(output.begin(""), storage_error);
}

TEST_F(FileSink, ReportsThatAPipeIsNotAFile) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const descriptor reads(ends[0]), writes(ends[1]);
  EXPECT_THROW(file_sink("/dev/fd/" + std::to_string(writes.get()), mine), parameter_error);
}

// Promise: a second worker on one file is refused (streams, Several workers).
TEST_F(FileSink, RefusesASecondJobAndOtherTypesOfFiles) {
  file_sink first(path(), mine);
  first.begin("");
  EXPECT_THROW(file_sink second(path(), mine), storage_error);
  EXPECT_THROW(file_sink device("/dev/null", mine), parameter_error);
}

TEST_F(FileSink, StartsANewFileWithALine) {
  std::string note;
  {
    file_sink output(path(), mine);
    output.begin_new_with("id,name");
    output.begin("");
    EXPECT_EQ(text(), "id,name\n");
    put(output, {{"1,a", verdict::fresh}});
    note = settle(output);
  }
  file_sink again(path(), mine);
  again.begin_new_with("id,name");
  again.begin(note);
  put(again, {{"2,b", verdict::fresh}});
  settle(again);
  EXPECT_EQ(text(), "id,name\n1,a\n2,b\n");
}

TEST_F(FileSink, CompletesThePartialLineOfARunAndAddsNoneToOtherContent) {
  for (const std::string there : {"", "id", "id,name\n"}) {
    std::ofstream(path(), std::ios::trunc) << there;
    file_sink output(path(), mine);
    output.begin_new_with("id,name");
    output.begin("");
    EXPECT_EQ(text(), "id,name\n") << there;
  }
  std::ofstream(path(), std::ios::trunc) << "of others\n";
  file_sink output(path(), mine);
  output.begin_new_with("id,name");
  output.begin("");
  EXPECT_EQ(text(), "of others\n");
}

}  // namespace
}  // namespace everseen
