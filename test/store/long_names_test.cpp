// Filters in files whose names are too long for a file system.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/file_names.hpp"
#include "everseen/store/file/file_store.hpp"

#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"
#include "test/support/thrown_message.hpp"

namespace everseen {
namespace {

using namespace test;
namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto replace_namesake = store::namesake::replace;
const std::string slashes(1024, '/');
const std::string others = std::string(1023, '/') + '\n';

class LongNames : public testing::Test {
 protected:
  static spec small() { return make_spec({.capacity = 100, .error_rate = 1e-12, .seed = hash_seed{}}); }

  [[nodiscard]] fs::path directory_of(const std::string& name) const {
    return scratch_.path() / file_names::of(name);
  }
  [[nodiscard]] fs::path name_file(const std::string& name) const {
    return directory_of(name) / file_names::of(name);
  }
  /// The names that a filter's directory contains.
  [[nodiscard]] static std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
      if (entry.path().filename().native().starts_with('~')) names.push_back(entry.path().filename());
    return names;
  }
  void make(const std::string& name) { answered(add_keys(*store_.create(name, small()), keys_)); }
  void expect_whole(const std::string& name) {
    EXPECT_THAT(store_.list(), testing::Contains(name));
    EXPECT_EQ(tally_of(check_keys(*store_.open(name, access::read), keys_)).seen, keys_.size());
    if (file_names::is_hash(file_names::of(name)))
      EXPECT_THAT(names_in(directory_of(name)), ElementsAre(file_names::of(name)));
    else
      EXPECT_THAT(names_in(directory_of(name)), IsEmpty());
  }

  const scratch_directory scratch_;
  file_store store_{scratch_.path()};
  const std::vector<digest> keys_ = random_digests(1).take(10);
};

TEST_F(LongNames, AreInAFileOfTheirFilter) {
  make(slashes);
  make(others);
  expect_whole(slashes);
  expect_whole(others);
  std::ifstream file(name_file(others), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), others);
}

TEST_F(LongNames, ChangeWithTheirFilter) {
  make(slashes);
  for (const std::string& name : {others, std::string("short"), slashes}) {
    const std::string before = store_.list().front();
    store_.rename(before, name, store::namesake::refuse);
    EXPECT_FALSE(store_.exists(before));
    expect_whole(name);
  }
  make(others);
  store_.rename(slashes, others, store::namesake::replace);
  expect_whole(others);
  EXPECT_THAT(store_.list(), ElementsAre(others));
}

TEST_F(LongNames, SurviveARebuild) {
  make(slashes);
  spec larger = small();
  larger.capacity = 1'000;
  const auto rebuilt = store_.begin_rebuild(slashes, larger, {});
  answered(add_keys(*rebuilt->target(), keys_));
  rebuilt->commit();
  expect_whole(slashes);
}

TEST_F(LongNames, OfAnOlderFilterAreLookedUpFirst) {
  make(slashes);
  (void)store_.create(others, small());
  store_.link(slashes, others, {});
  const auto asked = store_.open(others, access::read)->path().asks_first;
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->name, slashes);
  EXPECT_THAT(message_of<parameter_error>([&] { store_.drop(slashes); }), HasSubstr("asks"));
  store_.drop(others);
  store_.drop(slashes);
  EXPECT_THAT(store_.list(), IsEmpty());
}

TEST_F(LongNames, LeaveNothingBehind) {
  make(slashes);
  std::ofstream(directory_of(slashes) / (file_names::of(others) + ".new")) << "cut";
  store_.drop(slashes);
  for (const auto& entry : fs::directory_iterator(scratch_.path()))
    EXPECT_EQ(entry.path().filename(), ".lock");
}

// Promise: a damaged filter is an error that names the file, never an empty filter (files, Damage).
// Promise: a filter whose long name is lost is listed by the name of its directory, and can be dropped by it
// (files, Damage).
TEST_F(LongNames, LostNamesAreListedByTheirDirectoryAndCanBeDropped) {
  make("short");
  const std::string lost = file_names::of(slashes);
  for (const auto& content : {std::optional(std::string()), {"a"}, {others}, {slashes + '/'}, {}}) {
    make(slashes);
    if (content)
      std::ofstream(name_file(slashes), std::ios::trunc | std::ios::binary) << *content;
    else
      fs::remove(name_file(slashes));
    EXPECT_THAT(store_.list(), ElementsAre("short", lost));
    EXPECT_TRUE(store_.exists(lost));
    const std::function<void()> uses[] = {
        [&] { (void)store_.open(lost, access::read); },
        [&] { (void)store_.open(lost, access::write); },
        [&] { (void)store_.facts(lost); },
        [&] { store_.reset(lost); },
        [&] { store_.link("short", lost, {}); },
        [&] { store_.link(lost, "short", {}); },
        [&] { store_.rename(lost, "b", replace_namesake); },
        [&] { store_.rename("short", lost, replace_namesake); },
    };
    for (const auto& use : uses)
      EXPECT_THAT(message_of<format_error>(use),
                  AllOf(HasSubstr(name_file(slashes).string()), HasSubstr("drop it")));
    EXPECT_EQ(tally_of(check_keys(*store_.open(slashes, access::read), keys_)).seen, keys_.size());
    store_.drop(lost);
    EXPECT_THAT(store_.list(), ElementsAre("short"));
    EXPECT_THROW(store_.drop(lost), no_filter);
  }
}

TEST_F(LongNames, LostNamesStillProtectTheFilterThatIsAskedFirst) {
  make(slashes);
  make("old");
  const std::string lost = file_names::of(slashes);
  store_.link("old", slashes, {});
  fs::remove(name_file(slashes));
  EXPECT_THAT(message_of<parameter_error>([&] { store_.drop("old"); }), HasSubstr("link --off"));
  store_.unlink(lost);
  store_.link(slashes, "old", {});
  EXPECT_THAT(message_of<parameter_error>([&] { store_.drop(lost); }), HasSubstr("link --off old"));
  store_.unlink("old");
  store_.drop(lost);
  EXPECT_THAT(store_.list(), ElementsAre("old"));
}

TEST_F(LongNames, LostNamesLeaveAFilterNamedLikeTheDirectoryAlone) {
  const std::string lost = file_names::of(slashes);
  make(lost);
  make(slashes);
  fs::remove(name_file(slashes));
  EXPECT_EQ(tally_of(check_keys(*store_.open(lost, access::read), keys_)).seen, keys_.size());
  store_.drop(lost);
  EXPECT_THAT(store_.list(), ElementsAre(lost)) << "the damaged one";
  EXPECT_THROW((void)store_.open(lost, access::read), format_error);
  EXPECT_EQ(tally_of(check_keys(*store_.open(slashes, access::read), keys_)).seen, keys_.size());
}

TEST_F(LongNames, AreNotReadFromForeignDirectories) {
  fs::create_directories(directory_of(slashes));
  for (const char* name : {"a%41", "%2e", "a b", ".hidden", "~short"})
    fs::create_directories(scratch_.path() / name / "segments");
  EXPECT_THAT(store_.list(), IsEmpty());
  EXPECT_FALSE(store_.exists(slashes));
  EXPECT_THROW(store_.drop(slashes), no_filter);
}

/// Records the order in which things must be on the disk.
class noting_disk : public disk {
 public:
  std::vector<std::string> steps;
  int sync_file(int file, const fs::path& path) override {
    return note("sync ", path), disk::sync_file(file, path);
  }
  int sync_directory(const fs::path& path) override {
    return note("sync ", path), disk::sync_directory(path);
  }
  int rename(const fs::path& from, const fs::path& target) override {
    return note("rename to ", target), disk::rename(from, target);
  }
  [[nodiscard]] std::ptrdiff_t place_of(const std::string& step) const {
    const auto place = std::ranges::find(steps, step);
    EXPECT_NE(place, steps.end()) << step;
    return place - steps.begin();
  }

 private:
  void note(const std::string& action, const fs::path& path) {
    steps.push_back(action + path.filename().string());
  }
};

TEST_F(LongNames, AreOnTheDiskBeforeTheirFilterIsVisible) {
  make("short");
  noting_disk on;
  file_store noted(scratch_.path(), sync_policy::never, on);
  noted.rename("short", slashes, store::namesake::refuse);
  const std::string file_name = file_names::of(slashes);
  const auto file = on.place_of("sync " + file_name + ".new"),
             renamed = on.place_of("rename to " + file_name), synced = on.place_of("sync short");
  EXPECT_LT(file, renamed);
  EXPECT_LT(renamed, synced);
  EXPECT_EQ(std::ranges::count(on.steps, "rename to " + file_name), 2) << "the file, then the directory";
  EXPECT_GT(std::ranges::find(on.steps.begin() + renamed + 1, on.steps.end(), "rename to " + file_name) -
                on.steps.begin(),
            synced);
}

}  // namespace
}  // namespace everseen
