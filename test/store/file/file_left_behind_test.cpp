// What a process leaves in a store that is killed while it makes a filter.

#include <algorithm>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>
#include <unistd.h>

#include "everseen/core/spec/spec.hpp"
#include "everseen/store/file/file_store.hpp"

#include "test/support/child_process.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

class FileLeftBehind : public testing::Test {
 protected:
  [[nodiscard]] std::ptrdiff_t unfinished() const {
    const auto is_hidden = [](const auto& entry) {
      return entry.path().filename().native().starts_with(".new.");
    };
    const std::filesystem::directory_iterator all(root_.path());
    return std::count_if(begin(all), end(all), is_hidden);
  }

  /// Runs `use` beside a process that makes a filter, and again after this was killed.
  void expect_removed_by(const std::function<void(store&)>& use) {
    const spec s = make_spec({.capacity = 10'000});
    (void)file_store(root_.path()).create("f", s);
    test::child_process maker([&](const test::child_process::tell& tell) {
      file_store there(root_.path());
      const auto unfinished = there.begin_restore("g", s);
      tell(1);
      ::pause();
    });
    ASSERT_EQ(maker.next(), 1);
    {
      file_store beside(root_.path());
      use(beside);
    }
    EXPECT_EQ(unfinished(), 1) << "it is being filled";
    maker.kill();
    file_store later(root_.path());
    use(later);
    EXPECT_EQ(unfinished(), 0);
    EXPECT_FALSE(later.exists("g"));
  }

  const test::scratch_directory root_{};
};

// Promise: what a killed process left of a filter is removed by the next writer (files, Durability).
TEST_F(FileLeftBehind, IsRemovedByTheNextWriter) {
  expect_removed_by([](store& s) { (void)s.open("f", access::write); });
}

TEST_F(FileLeftBehind, IsRemovedWithExpiredFilters) {
  expect_removed_by([](store& s) { s.remove_expired(); });
}

TEST_F(FileLeftBehind, IsRemovedByTheNextCreator) {
  expect_removed_by([](store& s) {
    (void)s.create("h", make_spec({.capacity = 1'000}));
    s.drop("h");
  });
}

}  // namespace
}  // namespace everseen
