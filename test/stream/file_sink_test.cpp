#include "everseen/stream/file_sink.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "everseen/core/error.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

class FileSink : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (directory_.path() / "fresh").string(); }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path()).rdbuf();
    return all.str();
  }
  static void put(sink& to, const std::vector<std::pair<std::string, verdict>>& events,
                  std::uint64_t position = 0, const std::string& lane = "a") {
    source_batch batch;
    batch.lane = lane;
    std::vector<verdict> verdicts;
    for (const auto& [bytes, v] : events) {
      batch.records.push_back({bytes, position++});
      verdicts.push_back(v);
    }
    to.put({batch, verdicts, {}});
  }
  /// As a job does.
  static std::string settle(sink& to) {
    std::string note = to.commit({});
    to.settled();
    return note;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_.path()),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  test::scratch_directory directory_;
};

TEST_F(FileSink, WritesWhatIsFreshOrUnknown) {
  file_sink to(path());
  to.begin("");
  put(to, {{"a", verdict::fresh}, {"b", verdict::seen}, {"c", verdict::unknown}, {"d", verdict::late}});
  settle(to);
  EXPECT_EQ(text(), "a\nc\n");
}

TEST_F(FileSink, ShowsWhatIsSettledAndNothingElse) {
  {
    file_sink to(path());
    to.begin("");
    put(to, {{"a", verdict::fresh}});
    EXPECT_EQ(text(), "");
    static_cast<void>(to.commit({}));
    EXPECT_EQ(text(), "");
    to.settled();
    EXPECT_EQ(text(), "a\n");
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileSink, ForgetsWhatWasNotSettledAndKeepsWhatStoodThere) {
  std::ofstream(path()) << "before\n";
  std::string note;
  {
    file_sink to(path());
    to.begin("");
    put(to, {{"a", verdict::fresh}});
    note = settle(to);
    put(to, {{"lost in a crash", verdict::fresh}});
    static_cast<void>(to.commit({}));
  }
  file_sink again(path());
  again.begin(note);
  put(again, {{"b", verdict::fresh}});
  settle(again);
  EXPECT_EQ(text(), "before\na\nb\n");
}

TEST_F(FileSink, ShowsWhatWasSettledBeforeACrash) {
  std::string note;
  {
    file_sink to(path());
    to.begin("");
    put(to, {{"a", verdict::fresh}});
    settle(to);
    put(to, {{"b", verdict::fresh}});
    note = to.commit({});  // the answer to its settlement is lost, and more is put
    put(to, {{"c", verdict::fresh}});
  }
  EXPECT_EQ(text(), "a\n");
  std::ofstream(path(), std::ios::app) << 'b';  // the crash came while it was shown
  file_sink again(path());
  again.begin(note);
  EXPECT_EQ(text(), "a\nb\n");
  EXPECT_EQ(settle(again), note);
}

TEST_F(FileSink, KeepsWhatSomebodyElseHasAppendedSince) {
  std::string note;
  {
    file_sink to(path());
    to.begin("");
    put(to, {{"a", verdict::fresh}});
    note = settle(to);
  }
  std::ofstream(path(), std::ios::app) << "of another job\n";
  {
    file_sink again(path());
    again.begin(note);
    put(again, {{"b", verdict::fresh}});
    note = settle(again);
  }
  EXPECT_EQ(text(), "a\nof another job\nb\n");
  file_sink last(path());
  last.begin(note);
  EXPECT_EQ(settle(last), note);
}

TEST_F(FileSink, LeavesWhatAnotherWorkerHasSettled) {
  file_sink to(path());
  to.begin("");
  put(to, {{"a", verdict::fresh}});
  const std::string note = settle(to);
  put(to, {{"b", verdict::fresh}, {"c", verdict::fresh}, {"d", verdict::fresh}}, 10);
  put(to, {{"e", verdict::fresh}}, 10, "another lane");
  put(to, {{"f", verdict::fresh}, {"g", verdict::fresh}}, 20);
  static_cast<void>(to.commit({}));
  to.leave_settled(note, {{"a", {"a", 12}}});
  EXPECT_EQ(text(), "a\n");
  static_cast<void>(to.commit({}));
  to.leave_settled(note, {{"a", {"a", 21}}, {"another lane", {"another lane", 9}}});
  put(to, {{"h", verdict::fresh}}, 30);
  const std::string last = settle(to);
  EXPECT_EQ(text(), "a\ne\ng\nh\n");
  EXPECT_TRUE(last.starts_with("8 "));
}

TEST_F(FileSink, ShowsWhatItHasSettledThoughItNeverHeardOfIt) {
  file_sink to(path());
  to.begin("");
  put(to, {{"a", verdict::fresh}, {"b", verdict::fresh}}, 10);
  const std::string unheard = to.commit({});
  put(to, {{"c", verdict::fresh}, {"d", verdict::fresh}}, 12);
  static_cast<void>(to.commit({}));
  to.leave_settled(unheard, {{"a", {"a", 13}}});
  EXPECT_EQ(text(), "a\nb\n");
  settle(to);
  EXPECT_EQ(text(), "a\nb\nd\n");
}

TEST_F(FileSink, RefusesAFileThatLostWhatWasSettled) {
  std::ofstream(path()) << "short";
  file_sink to(path());
  EXPECT_THROW(to.begin("10 10:0"), parameter_error);
  EXPECT_THROW(to.begin("x"), format_error);
  EXPECT_THROW(to.begin("10"), format_error);
}

TEST_F(FileSink, MakesNoFileInThePlaceOfOneThatIsGone) {
  file_sink to(path());
  EXPECT_THROW(to.begin("10 10:0"), parameter_error);
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_THROW(file_sink nowhere(path() + "/in/no/directory"), storage_error);
}

TEST_F(FileSink, NeverCutsAFileThatItHasNotWritten) {
  std::string note;
  {
    file_sink to(path());
    to.begin("");
    put(to, {{std::string(5'000, 'a'), verdict::fresh}});
    note = settle(to);
  }
  const std::string others = std::string(5'000, 'b') + "\nmore of another worker\n";
  std::ofstream(path()) << others;
  {
    file_sink again(path());
    EXPECT_THROW(again.begin(note), parameter_error);
  }
  EXPECT_EQ(text(), others);
}

TEST_F(FileSink, KnowsItsFileThoughItBeganLongBeforeAndEndedAnywhere) {
  std::string note;
  for (int run = 0; run < 20; ++run) {
    file_sink to(path());
    to.begin(note);
    for (int i = 0; i <= run; ++i)
      put(to, {{std::string(static_cast<std::size_t>(run * 97), 'x'), verdict::fresh}});
    note = settle(to);
    put(to, {{"lost in a crash", verdict::fresh}});
  }
  file_sink last(path());
  last.begin(note);
  EXPECT_EQ(text().find("lost"), std::string::npos);
}

TEST_F(FileSink, RefusesASecondJobAndWhatIsNoFile) {
  file_sink first(path());
  first.begin("");
  EXPECT_THROW(file_sink second(path()), storage_error);
  EXPECT_THROW(file_sink device("/dev/null"), parameter_error);
}

}  // namespace
}  // namespace everseen
