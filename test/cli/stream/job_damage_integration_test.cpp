// A stream job whose files were damaged after a crash, as its operator sees it.

#include <filesystem>
#include <fstream>

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;

/// A job that was killed when some of its events had their effect and were not settled.
class JobDamage : public Shell {
 protected:
  void SetUp() override {
    given("seq 1 500 > numbers");
    EXPECT_EQ(sh(dying_at("put") + stream).exit_code, 137);
  }
  [[nodiscard]] std::filesystem::path journal() const { return directory() / "store/f/jobs/stream"; }

  const std::string stream = "everseen stream --from numbers --filter f --to fresh";
};

TEST_F(JobDamage, UndamagedContinuesAndLosesNothing) {
  given(stream);
  EXPECT_THAT(sh("sort -n fresh | cmp - numbers"), Prints(""));
}

TEST_F(JobDamage, OfTheLastRecordOfItsJournalEndsItWithTheFilesNameUntilTheJobIsAbandoned) {
  std::filesystem::resize_file(journal(), std::filesystem::file_size(journal()) - 1);
  EXPECT_THAT(sh(stream), Complains(4, journal().string(), "everseen jobs f --end stream"));
  EXPECT_THAT(sh("everseen add f 501"), Complains(4, journal().string()));
  EXPECT_THAT(sh("everseen jobs f"), Complains(4, journal().string()));
  EXPECT_THAT(sh("everseen jobs f --end none --yes"), Complains(2, "it has stream"));
  EXPECT_THAT(sh("everseen jobs f --end stream --yes"),
              AllOf(Field("exit_code", &program_result::exit_code, 0),
                    Field("err", &program_result::err, HasSubstr("warning: " + journal().string()))));
  EXPECT_THAT(sh("everseen add f 501"), AllOf(Field("exit_code", &program_result::exit_code, 0)));
}

TEST_F(JobDamage, DeletedFileEndsItWithTheFilesName) {
  for (const char* name : {"jobs/stream", "end", "link", "manifest", "segments/0.0.0"}) {
    const auto file = directory() / "store/f" / name;
    std::filesystem::rename(file, directory() / "away");
    EXPECT_THAT(sh(stream), Complains(4, file.string(), "missing")) << name;
    std::filesystem::rename(directory() / "away", file);
  }
  given(stream);
  EXPECT_THAT(sh("sort -n fresh | cmp - numbers"), Prints(""));
}

}  // namespace
}  // namespace everseen::test
