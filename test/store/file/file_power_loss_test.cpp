// The power fails, or the disk refuses, at every operation of a filter's life. Keys acknowledged under
// sync=always are still present, and the filter opens.

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/model/forgetful_disk.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr int batches = 12;
constexpr int lives = 2;  // the filter is closed and opened again between them

/// Grows, rotates and drops slices within few operations.
spec busy_spec() {
  return make_spec({.capacity = 100,
                    .error_rate = 0.001,
                    .seed = hash_seed{},
                    .window = window_spec{40s, 2},
                    .partitions = 1});
}

std::vector<digest> keys_of(int batch) {
  return random_digests(static_cast<std::uint64_t>(batch) + 1).take(40);
}
event_time time_of(int batch) {
  return event_time(batch * 6s);
}

struct acknowledged_keys {
  bool created = false;
  int last_batch = -1;
  std::vector<int> batches;  // whose keys all have a verdict
};

/// Runs until something fails permanently, and returns what was acknowledged before.
acknowledged_keys filter_life(const std::filesystem::path& where, forgetful_disk& on, sync_policy policy) {
  acknowledged_keys done;
  try {
    file_store filters(where, policy, on);
    auto filter = filters.create("f", busy_spec());
    done.created = true;
    for (int batch = 0; batch < batches; ++batch) {
      if (batch == batches / lives) {
        filter.reset();
        filter = filters.open("f", access::write);
      }
      done.last_batch = batch;  // its keys may be in, even without an answer
      if (add_keys(*filter, keys_of(batch), time_of(batch)).result) done.batches.push_back(batch);
    }
  } catch (const error&) {
    // the disk is gone
  }
  return done;
}

/// Every acknowledged key that the window still holds is seen.
void expect_remembered(const std::filesystem::path& where, const acknowledged_keys& done,
                       const std::string& moment) {
  file_store filters(where, sync_policy::never);
  if (!filters.exists("f")) {
    EXPECT_FALSE(done.created) << moment << ": the filter is gone";
    return;
  }
  std::shared_ptr<stored_filter> filter;
  ASSERT_NO_THROW(filter = filters.open("f", access::write)) << moment;
  EXPECT_EQ(filter->get_spec(), busy_spec());
  const window_spec w = *busy_spec().window;
  const event_time time = time_of(std::max(done.last_batch, 0));
  for (const int batch : done.batches) {
    if (window::slice_at(w, time_of(batch)) < window::oldest_live(w, window::slice_at(w, time))) continue;
    for (const verdict v : check_keys(*filter, keys_of(batch), time).verdicts)
      ASSERT_EQ(v, verdict::seen) << moment << ": batch " << batch << " was forgotten";
  }
}

// Promise: under sync=always a power loss at any disk operation loses nothing acknowledged (files,
// Durability).
TEST(FilePowerLoss, AtAnyMomentLosesNothingAcknowledgedUnderSyncAlways) {
  for (std::uint64_t cut = 0;; ++cut) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.cut_power(cut);
    const acknowledged_keys done = filter_life(scratch.path(), on, sync_policy::always);
    for (unsigned luck = 0; luck < 4; ++luck) {
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      expect_remembered(found.path(), done,
                        "cut at " + std::to_string(cut) + ", luck " + std::to_string(luck));
      if (HasFatalFailure()) return;
    }
    if (!on.has_failed()) {
      EXPECT_GT(cut, 100u) << "the workload should grow, rotate and reopen";
      EXPECT_EQ(done.batches.size(), static_cast<std::size_t>(batches));
      return;
    }
  }
}

// Promise: the filter opens after a power loss under every policy (files, Durability).
TEST(FilePowerLoss, NeverLeavesAFilterThatDoesNotOpenWhateverTheSyncPolicy) {
  for (std::uint64_t cut = 0;; ++cut) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.cut_power(cut);
    acknowledged_keys done = filter_life(scratch.path(), on, sync_policy::never);
    done.batches.clear();  // these may be lost
    for (unsigned luck = 0; luck < 4; ++luck) {
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      expect_remembered(found.path(), done,
                        "cut at " + std::to_string(cut) + ", luck " + std::to_string(luck));
      if (HasFatalFailure()) return;
    }
    if (!on.has_failed()) return;
  }
}

// Promise: what was acknowledged before a successful sync() survives under every policy (files, Durability).
TEST(FilePowerLoss, SyncedKeysSurviveUnderEveryPolicy) {
  const scratch_directory scratch, found;
  forgetful_disk on;
  file_store filters(scratch.path(), sync_policy::never, on);
  const auto filter = filters.create("f", busy_spec());
  acknowledged_keys done{true, 0, {0}};
  ASSERT_TRUE(add_keys(*filter, keys_of(0), time_of(0)).result);
  filter->sync();
  ASSERT_TRUE(add_keys(*filter, keys_of(1), time_of(0)).result);  // these may be lost
  on.after_power_loss(scratch.path(), found.path(), 0);
  expect_remembered(found.path(), done, "after a sync");
  file_store after(found.path(), sync_policy::never);
  const answers later = check_keys(*after.open("f", access::read), keys_of(1), time_of(0));
  EXPECT_GT(later.result->fresh, 0u) << "the test's disk should have lost unsynced data";
}

// Promise: closing in order syncs under every policy (files, Durability).
TEST(FilePowerLoss, ClosingInOrderSyncsUnderEveryPolicy) {
  const scratch_directory scratch, found;
  forgetful_disk on;
  const acknowledged_keys done = filter_life(scratch.path(), on, sync_policy::never);
  on.after_power_loss(scratch.path(), found.path(), 0);
  expect_remembered(found.path(), done, "after closing");
}

/// The life of a filter whose process is killed at this operation: nothing that follows reaches the disk.
/// @return nothing if it ended before
std::optional<acknowledged_keys> life_killed_at(std::uint64_t operation, const std::filesystem::path& where,
                                                forgetful_disk& on, sync_policy policy) {
  on.fail(operation);
  acknowledged_keys done = filter_life(where, on, policy);
  if (!on.has_failed()) return std::nullopt;
  on.work_again();
  return done;
}

void expect_remembered_after_power_loss(const scratch_directory& scratch, forgetful_disk& on,
                                        const acknowledged_keys& done, const std::string& moment,
                                        const char* below = "") {
  for (unsigned luck = 0; luck < 4; ++luck) {
    const scratch_directory found;
    on.after_power_loss(scratch.path(), found.path(), luck);
    expect_remembered(found.path() / below, done, moment + ", luck " + std::to_string(luck));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Promise: under sync=always a power loss at any disk operation loses nothing acknowledged (files,
// Durability).
TEST(FilePowerLoss, KeysThatAKilledWriterLeftUnsyncedAreSyncedBeforeTheNextWriterCallsThemSeen) {
  for (std::uint64_t kill = 0;; ++kill) {
    const scratch_directory scratch;
    const std::filesystem::path where = scratch.path() / "x/y";
    forgetful_disk on;
    const auto first = life_killed_at(kill, where, on, sync_policy::always);
    if (!first) return;
    file_store filters(where, sync_policy::always, on);
    const auto filter =
        filters.exists("f") ? filters.open("f", access::write) : filters.create("f", busy_spec());
    acknowledged_keys again = *first;
    again.created = true;
    again.last_batch = std::max(first->last_batch, 0);
    again.batches.push_back(again.last_batch);
    ASSERT_TRUE(add_keys(*filter, keys_of(again.last_batch), time_of(again.last_batch)).result);
    expect_remembered_after_power_loss(scratch, on, again, "killed at " + std::to_string(kill), "x/y");
    if (HasFatalFailure()) return;
  }
}

// Promise: closing in order syncs under every policy (files, Durability).
TEST(FilePowerLoss, ClosingInOrderSyncsWhatAKilledWriterLeftUnsynced) {
  for (std::uint64_t kill = 0;; ++kill) {
    const scratch_directory scratch;
    forgetful_disk on;
    auto done = life_killed_at(kill, scratch.path(), on, sync_policy::never);
    if (!done) return;
    if (!done->created) continue;
    (void)file_store(scratch.path(), sync_policy::never, on).open("f", access::write);
    expect_remembered_after_power_loss(scratch, on, *done, "killed at " + std::to_string(kill));
    if (HasFatalFailure()) return;
  }
}

// Promise: what was acknowledged before a successful sync() survives under every policy (files, Durability).
TEST(FilePowerLoss, ASyncAfterAFailedOneSyncsTheSegmentsThatTheFailedOneDidNotReach) {
  const scratch_directory scratch;
  forgetful_disk on;
  file_store filters(scratch.path(), sync_policy::never, on);
  auto filter = filters.create("f", busy_spec());
  const acknowledged_keys done{true, 2, {0, 1, 2}};
  for (const int batch : done.batches) ASSERT_TRUE(add_keys(*filter, keys_of(batch), time_of(batch)).result);
  on.fail(on.operations(), 1, EIO);
  EXPECT_THROW(filter->sync(), storage_error);
  filter.reset();
  filter = filters.open("f", access::write);
  filter->sync();
  expect_remembered_after_power_loss(scratch, on, done, "after the second sync");
}

TEST(FilePowerLoss, KeepsAStoreWhoseDirectoriesWereJustCreated) {
  for (const char* below : {"x", "x/y/z", "x/", "x/y/z/", "x/./y"}) {
    const scratch_directory scratch, found;
    forgetful_disk on;
    const acknowledged_keys done = filter_life(scratch.path() / below, on, sync_policy::always);
    on.after_power_loss(scratch.path(), found.path(), 0);
    expect_remembered(found.path() / below, done, below);
  }
}

TEST(FilePowerLoss, LeavesARestoredFilterWholeOrAbsent) {
  const spec s = make_spec({.capacity = 100,
                            .error_rate = 0.001,
                            .layout = layout_kind::line_8x64,
                            .seed = hash_seed{},
                            .partitions = 2});
  const geometry shape = {layout_kind::line_8x64, 8, 1024};
  for (std::uint64_t cut = 0;; ++cut) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.cut_power(cut);
    bool committed = false;
    try {
      file_store filters(scratch.path(), sync_policy::never, on);
      const auto target = filters.begin_restore("f", s);
      for (std::uint32_t p = 0; p < 2; ++p)
        std::ranges::fill(target->add_segment({p, 0, 0}, {shape, 50, 5}), std::byte{0xff});
      target->commit();
      committed = true;
    } catch (const storage_error&) {
      // the disk is gone
    }
    for (unsigned luck = 0; luck < 4; ++luck) {
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      file_store filters(found.path(), sync_policy::never);
      if (committed) {
        ASSERT_TRUE(filters.exists("f")) << cut;
      }
      if (!filters.exists("f")) continue;
      const auto filter = filters.open("f", access::write);
      EXPECT_GE(keys_in(*filter), 10u);
      EXPECT_EQ(tally_of(check_keys(*filter, random_digests(1).take(100))).seen, 100u)
          << cut << ": bits are missing";
    }
    if (!on.has_failed()) return;
  }
}

// Promise: one failing disk operation loses nothing acknowledged (files, Disk full and disk errors).
TEST(FileDiskFailure, SingleFailureAtAnyOperationLosesNothingAcknowledged) {
  for (const int code : {ENOSPC, EIO})
    for (std::uint64_t offset = 0;; ++offset) {
      const scratch_directory scratch;
      forgetful_disk on;
      on.fail(offset, 1, code);
      const acknowledged_keys done = filter_life(scratch.path(), on, sync_policy::always);
      expect_remembered(scratch.path(), done, "failure at " + std::to_string(offset));
      if (HasFatalFailure()) return;
      if (!on.has_failed()) break;
    }
}

// Promise: a full disk is an error, and the filter continues when there is space (files, Disk full and disk
// errors).
TEST(FileDiskFailure, FullDiskIsAnErrorAndTheFilterContinuesWhenThereIsSpaceAgain) {
  const scratch_directory scratch;
  forgetful_disk on;
  file_store filters(scratch.path(), sync_policy::never, on);
  const auto filter = filters.create("f", make_spec({.capacity = 50, .error_rate = 0.001, .partitions = 1}));
  ASSERT_TRUE(add_keys(*filter, random_digests(1).take(40)).result);
  on.fail(on.operations(), 1, ENOSPC);  // the reservation of the next layer
  const auto keys = random_digests(2).take(100);
  const answers got = add_keys(*filter, keys);
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().why, batch_failure::cause::storage);
  EXPECT_NE(got.result.error().message.find("free some space"), std::string::npos)
      << got.result.error().message;
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(got.verdicts[i] == verdict::unknown,
              check_keys(*filter, {&keys[i], 1}).verdicts[0] == verdict::fresh);
  ASSERT_TRUE(add_keys(*filter, keys).result);
  for (const verdict v : check_keys(*filter, keys).verdicts) EXPECT_EQ(v, verdict::seen);
}

// Promise: a failed sync stops the filter until it is opened again (files, Disk full and disk errors).
TEST(FileDiskFailure, FailedSyncStopsTheFilterUntilItIsOpenedAgain) {
  const scratch_directory scratch;
  forgetful_disk on;
  file_store filters(scratch.path(), sync_policy::always, on);
  auto filter = filters.create("f", make_spec({.capacity = 1000, .error_rate = 0.001, .partitions = 1}));
  ASSERT_TRUE(add_keys(*filter, random_digests(1).take(10)).result);
  on.fail(on.operations(), 1, EIO);  // the sync of this batch
  const answers doubtful = add_keys(*filter, random_digests(2).take(10));
  ASSERT_FALSE(doubtful.result);
  EXPECT_EQ(doubtful.result.error().done.fresh, 10u) << "they were judged and added";
  const answers after = add_keys(*filter, random_digests(3).take(10));
  ASSERT_FALSE(after.result);
  EXPECT_EQ(after.result.error().done.unknown, 10u);
  EXPECT_NE(after.result.error().message.find("open it again"), std::string::npos);
  EXPECT_THROW(filter->sync(), storage_error);
  filter.reset();
  filter = filters.open("f", access::write);
  EXPECT_TRUE(add_keys(*filter, random_digests(3).take(10)).result);
}

}  // namespace
}  // namespace everseen
