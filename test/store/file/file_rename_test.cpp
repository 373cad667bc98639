// A filter in files takes the name of another, and the process crashes at every step.

#include <cerrno>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/file_names.hpp"
#include "everseen/store/file/file_store.hpp"

#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace test;
namespace fs = std::filesystem;
constexpr auto replace = store::namesake::replace;

struct death {};

/// The process crashes before a step: nothing that it would do on an error is done.
class dying_disk : public disk {
 public:
  int dies_at = -1;
  int steps = 0;
  bool can_exchange = true;

  int sync_file(int file, const fs::path& path) override { return step(), disk::sync_file(file, path); }
  int sync_directory(const fs::path& path) override { return step(), disk::sync_directory(path); }
  int unlink(const fs::path& path) override { return step(), disk::unlink(path); }
  int rename(const fs::path& from, const fs::path& target) override {
    return step(), disk::rename(from, target);
  }
  int exchange(const fs::path& one, const fs::path& other) override {
    return step(), can_exchange ? disk::exchange(one, other) : EINVAL;
  }

 private:
  void step() {
    if (steps++ == dies_at) throw death{};
  }
};

constexpr std::uint64_t newer_keys = 500, live_keys = 77;

void make(store& in, const std::string& name, std::uint64_t capacity, unsigned keys) {
  const spec s = make_spec({.capacity = capacity, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 2});
  ASSERT_TRUE(add_keys(*in.create(name, s), random_digests(keys).take(50)).result);
}

/// Which of the two filters has this name; 0: none.
std::uint64_t found(const fs::path& in, const std::string& name) {
  file_store filters(in);
  if (!filters.exists(name)) return 0;
  const auto filter = filters.open(name, access::write);
  const std::uint64_t capacity = filter->get_spec().capacity;
  const answers got = check_keys(*filter, random_digests(capacity == newer_keys ? 1 : 2).take(50));
  EXPECT_TRUE(got.result);
  EXPECT_EQ(got.result->seen, 50U);
  return capacity;
}

int hidden(const fs::path& in) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(in))
    count += entry.path().filename().native().starts_with(".new.") ? 1 : 0;
  return count;
}

/// The names of the two filters, plain or too long for the file system.
class FileRename : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static std::string name(const std::string& word) {
    return GetParam() ? std::string(1000, '/') + word : word;
  }
  const std::string new_ = name("new"), live_ = name("live");

  /// @return whether it crashed
  [[nodiscard]] bool rename_and_die(const fs::path& in, int step) const try {
    dying_disk on;
    on.dies_at = step;
    file_store(in, sync_policy::never, on).rename(new_, live_, replace);
    return false;
  } catch (const death&) {
    return true;
  }
};

INSTANTIATE_TEST_SUITE_P(Names, FileRename, testing::Bool(),
                         [](const auto& one) { return one.param ? "Long" : "Short"; });

// Promise: a renaming that is killed leaves the filter under exactly one of its names (files, Durability).
TEST_P(FileRename, WhereverItCrashesTheNewNameHasOneOfTheTwoFilters) {
  int kept = 0, replaced = 0;
  for (int step = 0;; ++step) {
    const scratch_directory scratch;
    file_store filters(scratch.path());
    make(filters, new_, newer_keys, 1);
    make(filters, live_, live_keys, 2);
    const bool died = rename_and_die(scratch.path(), step);
    const std::uint64_t keys = found(scratch.path(), live_);
    ASSERT_TRUE(keys == newer_keys || keys == live_keys) << "died at step " << step;
    ASSERT_EQ(found(scratch.path(), new_), keys == live_keys ? newer_keys : 0) << "died at step " << step;
    ++(keys == live_keys ? kept : replaced);
    if (keys == live_keys) {
      filters.rename(new_, live_, replace);
    } else {
      make(filters, new_, live_keys, 2);
      ASSERT_EQ(found(scratch.path(), new_), live_keys) << "died at step " << step;
    }
    ASSERT_EQ(found(scratch.path(), live_), newer_keys) << "died at step " << step;
    ASSERT_EQ(hidden(scratch.path()), 0) << "died at step " << step;
    ASSERT_THAT(filters.list(), testing::Contains(live_)) << "died at step " << step;
    if (!died) break;
  }
  EXPECT_GT(kept, 3);
  EXPECT_GT(replaced, 2);
}

TEST_P(FileRename, CrashBeforeItsStepLeavesNothingForALaterRename) {
  for (int step = 0;; ++step) {
    const scratch_directory scratch;
    file_store filters(scratch.path());
    make(filters, new_, newer_keys, 1);
    make(filters, live_, live_keys, 2);
    const bool died = rename_and_die(scratch.path(), step);
    if (!died || found(scratch.path(), live_) != live_keys) break;
    filters.drop(new_);
    filters.rename(live_, new_, store::namesake::refuse);
    ASSERT_EQ(found(scratch.path(), new_), live_keys) << "died at step " << step;
  }
}

TEST_P(FileRename, LeftoversOfACrashAreRemovedWithEndedFilters) {
  int left = 0;
  for (int step = 0;; ++step) {
    const scratch_directory scratch;
    file_store filters(scratch.path());
    make(filters, new_, newer_keys, 1);
    make(filters, live_, live_keys, 2);
    const bool died = rename_and_die(scratch.path(), step);
    if (found(scratch.path(), live_) == newer_keys && fs::exists(scratch.path() / file_names::of(new_))) {
      ++left;
      filters.remove_expired();
      EXPECT_FALSE(fs::exists(scratch.path() / file_names::of(new_)));
    }
    if (!died) break;
  }
  EXPECT_GT(left, 0);
}

TEST_P(FileRename, AlsoReplacesWhereNamesCannotBeExchanged) {
  const scratch_directory scratch;
  dying_disk on;
  on.can_exchange = false;
  file_store filters(scratch.path(), sync_policy::never, on);
  make(filters, new_, newer_keys, 1);
  make(filters, live_, live_keys, 2);
  filters.rename(new_, live_, replace);
  EXPECT_EQ(found(scratch.path(), live_), newer_keys);
  EXPECT_EQ(found(scratch.path(), new_), 0U);
  EXPECT_EQ(hidden(scratch.path()), 0);
}

}  // namespace
}  // namespace everseen
