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
  static void put(sink& to, const std::vector<std::pair<std::string, verdict>>& events) {
    source_batch batch;
    std::vector<verdict> verdicts;
    for (const auto& [bytes, v] : events) {
      batch.records.push_back({bytes, 0});
      verdicts.push_back(v);
    }
    to.put({batch, verdicts, {}});
  }

 private:
  test::scratch_directory directory_;
};

TEST_F(FileSink, WritesWhatIsFreshOrUnknown) {
  file_sink to(path());
  to.begin("");
  put(to, {{"a", verdict::fresh}, {"b", verdict::seen}, {"c", verdict::unknown}, {"d", verdict::late}});
  EXPECT_EQ(text(), "a\nc\n");
}

TEST_F(FileSink, TakesBackWhatWasNotSettledAndKeepsWhatStoodThere) {
  std::ofstream(path()) << "before\n";
  std::string note;
  {
    file_sink to(path());
    to.begin("");
    put(to, {{"a", verdict::fresh}});
    note = to.commit({});
    put(to, {{"lost in a crash", verdict::fresh}});
  }
  file_sink again(path());
  again.begin(note);
  put(again, {{"b", verdict::fresh}});
  EXPECT_EQ(text(), "before\na\nb\n");
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
    note = to.commit({});
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
    note = to.commit({});
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
