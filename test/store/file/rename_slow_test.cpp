// Repeated kill -9 while a filter in files is renamed: it has one of its two names, with all its keys.

#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/child_process.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace test;

constexpr int kills_while_renaming = 300;
constexpr auto replace = store::namesake::replace;

spec renamed_spec() {
  return make_spec({.capacity = 500, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 2});
}

/// Renames the filter repeatedly to the other name, where there is always another filter to replace.
void rename_repeatedly(const std::filesystem::path& in, const child_process::tell& tell) {
  try {
    file_store filters(in, sync_policy::never);
    for (int i = 0;; ++i) {
      const bool is_a = !filters.exists("b") || filters.open("b", access::read)->get_spec().capacity != 500;
      const std::string from = is_a ? "a" : "b", target = is_a ? "b" : "a";
      spec other = renamed_spec();
      other.capacity = 77;
      if (!filters.exists(target)) filters.create(target, other).reset();
      filters.rename(from, target, replace);
      tell(i);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "renaming: %s\n", e.what());
    tell(-1);
  }
}

// Promise: a renaming that is killed leaves the filter under exactly one of its names (files, Durability).
TEST(FileRename, KilledAtRandomMomentsLeavesTheFilterUnderOneOfItsNames) {
  const scratch_directory scratch;
  const auto keys = random_digests(1).take(300);
  {
    file_store filters(scratch.path(), sync_policy::never);
    ASSERT_TRUE(add_keys(*filters.create("a", renamed_spec()), keys).result);
  }
  std::mt19937 chance(1);
  int renamed = 0;
  for (int kill = 0; kill < kills_while_renaming; ++kill) {
    {
      child_process child([&](const child_process::tell& tell) { rename_repeatedly(scratch.path(), tell); });
      for (unsigned told = 0, most = chance() % 4; told < most; ++told) {
        const auto number = child.next();
        ASSERT_TRUE(number && *number >= 0) << "after kill " << kill;
        ++renamed;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(chance() % 2'000));
    }
    const file_store filters(scratch.path(), sync_policy::never);
    int found = 0;
    for (const std::string& name : filters.list()) {
      const auto filter = file_store(scratch.path()).open(name, access::read);
      if (filter->get_spec().capacity != 500) continue;
      ++found;
      const answers got = check_keys(*filter, keys);
      ASSERT_TRUE(got.result);
      ASSERT_EQ(got.result->seen, keys.size());
    }
    ASSERT_EQ(found, 1) << "after kill " << kill;
  }
  EXPECT_GT(renamed, kills_while_renaming);
}

}  // namespace
}  // namespace everseen
