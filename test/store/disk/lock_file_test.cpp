#include "everseen/store/disk/lock_file.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/store/disk/disk.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

class LockFile : public testing::Test {
 protected:
  test::scratch_directory scratch_;
  const std::filesystem::path path_ = scratch_.path() / "lock";
};

TEST_F(LockFile, IsHeldByOneAtATimeAlsoWithinAProcess) {
  auto first = lock_file::try_take(path_);
  EXPECT_TRUE(first);
  EXPECT_FALSE(lock_file::try_take(path_));
  first.reset();
  EXPECT_TRUE(lock_file::try_take(path_));
}

TEST_F(LockFile, WaiterForARemovedFileLocksItsSuccessor) {
  auto first = lock_file::try_take(path_);
  std::optional<lock_file> second;
  std::thread waiting([&] { second = lock_file::take(path_); });
  std::this_thread::sleep_for(
      std::chrono::milliseconds(30));  // long enough for the waiter; less would prove less, not fail
  std::filesystem::remove(path_);
  first.reset();
  waiting.join();
  EXPECT_FALSE(lock_file::try_take(path_)) << "the lock is on a file that is no longer reachable";
}

TEST_F(LockFile, NamesItsHolder) {
  const auto held = lock_file::try_take(path_);
  EXPECT_EQ(lock_file::holder_of(path_), "another part of this process");
  std::ofstream(scratch_.path() / "free");
  EXPECT_EQ(lock_file::holder_of(scratch_.path() / "free"), "another process");
  EXPECT_EQ(lock_file::holder_of(scratch_.path() / "missing"), "another process");
}

TEST_F(LockFile, InAMissingDirectoryIsAnError) {
  EXPECT_THROW((void)lock_file::try_take(scratch_.path() / "no/lock"), storage_error);
}

}  // namespace
}  // namespace everseen
