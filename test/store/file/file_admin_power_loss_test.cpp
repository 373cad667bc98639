// The power fails at every disk operation of a directory's administration: creating, filling, renaming,
// rebuilding, resetting, replacing and dropping filters. Afterwards the directory is as after one of these
// steps.

#include <functional>
#include <map>

#include <gmock/gmock.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/model/forgetful_disk.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace test;

spec small_spec(std::uint64_t capacity) {
  return make_spec({.capacity = capacity, .error_rate = 0.001, .seed = hash_seed{}, .partitions = 2});
}

std::vector<digest> batch(unsigned number) {
  return random_digests(number + 1).take(60);
}

/// The filters of a directory by name, and the batches that each must have.
using directory_content = std::map<std::string, std::set<unsigned>>;

struct admin_step {
  const char* name;
  std::function<void(file_store&)> act;
  directory_content after;
};

void add(file_store& filters, const char* name, unsigned number) {
  const answers all = add_keys(*filters.open(name, access::write), batch(number));
  if (!all.result) throw storage_error("the disk is gone", EIO, name);
}

/// The administration of a directory, in steps that each happen or do not.
std::vector<admin_step> administration() {
  return {
      {"create", [](file_store& f) { (void)f.create("a", small_spec(100)); }, {{"a", {}}}},
      {"add", [](file_store& f) { add(f, "a", 0); }, {{"a", {0}}}},
      {"grow", [](file_store& f) { add(f, "a", 1); }, {{"a", {0, 1}}}},
      {"rename", [](file_store& f) { f.rename("a", "b", filter_admin::namesake::refuse); }, {{"b", {0, 1}}}},
      {"rebuild",
       [](file_store& f) {
         const auto made = f.begin_rebuild("b", small_spec(1'000), {});
         if (!add_keys(*made->target(), batch(1)).result) throw storage_error("the disk is gone", EIO, "b");
         made->commit();
       },
       {{"b", {1}}}},
      {"create a sibling",
       [](file_store& f) { (void)f.create("c", small_spec(1'000)); },
       {{"b", {1}}, {"c", {}}}},
      {"fill it", [](file_store& f) { add(f, "c", 2); }, {{"b", {1}}, {"c", {2}}}},
      {"reset", [](file_store& f) { f.reset("c"); }, {{"b", {1}}, {"c", {}}}},
      {"fill it again", [](file_store& f) { add(f, "c", 3); }, {{"b", {1}}, {"c", {3}}}},
      {"replace", [](file_store& f) { f.rename("c", "b", filter_admin::namesake::replace); }, {{"b", {3}}}},
      {"drop", [](file_store& f) { f.drop("b"); }, {}},
  };
}

/// The number of steps that were acknowledged before the disk failed.
std::size_t acknowledged_steps(const std::filesystem::path& where, forgetful_disk& on) {
  std::size_t done = 0;
  try {
    file_store filters(where, sync_policy::always, on);
    for (const admin_step& step : administration()) {
      step.act(filters);
      ++done;
    }
  } catch (const error&) {
    // the disk is gone
  }
  return done;
}

/// Empty, or how the directory differs.
std::string difference(const std::filesystem::path& where, const directory_content& wanted) {
  file_store filters(where, sync_policy::never);
  std::vector<std::string> names;
  for (const auto& [name, batches] : wanted) names.push_back(name);
  if (filters.list() != names) return "other filters: " + testing::PrintToString(filters.list());
  for (const auto& [name, batches] : wanted) {
    const auto filter = filters.open(name, access::write);
    for (const unsigned number : batches)
      if (tally_of(check_keys(*filter, batch(number))).seen != batch(number).size())
        return name + " has lost keys of batch " + std::to_string(number);
  }
  return {};
}

// Promise: creating, renaming, rebuilding and dropping are single steps that a power loss does not cut in two
// (files, Durability).
TEST(FileAdminPowerLoss, AtAnyMomentLeavesTheDirectoryAsAfterTheLastStepOrTheNext) {
  const std::vector<admin_step> steps = administration();
  for (std::uint64_t cut = 0;; ++cut) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.cut_power(cut);
    const std::size_t done = acknowledged_steps(scratch.path(), on);
    const directory_content last = done == 0 ? directory_content() : steps[done - 1].after;
    const directory_content next = done == steps.size() ? last : steps[done].after;
    for (unsigned luck = 0; luck < 4; ++luck) {
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      const std::string from_last = difference(found.path(), last);
      const std::string from_next = from_last.empty() ? from_last : difference(found.path(), next);
      ASSERT_TRUE(from_next.empty()) << "cut at operation " << cut << ", luck " << luck << ", in step "
                                     << (done == steps.size() ? "none" : steps[done].name)
                                     << ": neither as before (" << from_last << ") nor as after ("
                                     << from_next << ')';
    }
    if (!on.has_failed()) {
      EXPECT_EQ(done, steps.size());
      EXPECT_GT(cut, 60U) << "operations of the disk";
      return;
    }
  }
}

// Promise: under sync=always a power loss at any disk operation loses nothing acknowledged (files,
// Durability).
TEST(FileAdminPowerLoss, WhatANextProcessAddsIsKeptWhereverTheFirstWasKilled) {
  constexpr unsigned added = 7;
  for (std::uint64_t kill = 0;; ++kill) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.fail(kill);
    const std::size_t done = acknowledged_steps(scratch.path(), on);
    if (!on.has_failed()) return;
    on.work_again();
    file_store filters(scratch.path(), sync_policy::always, on);
    if (filters.list().empty()) (void)filters.create("z", small_spec(100));
    directory_content content;
    for (const std::string& name : filters.list()) {
      add(filters, name.c_str(), added);
      content[name] = {added};
    }
    for (unsigned luck = 0; luck < 8; ++luck) {
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      ASSERT_EQ(difference(found.path(), content), "") << "killed at operation " << kill << ", luck " << luck
                                                       << ", in step " << administration()[done].name;
    }
  }
}

}  // namespace
}  // namespace everseen
