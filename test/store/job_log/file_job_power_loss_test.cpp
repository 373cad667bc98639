// The power fails at every operation of a job's life. Everything checkpointed under sync=always is present,
// and every later event gets the verdict of an undisturbed run.

#include <array>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/claimed_events.hpp"
#include "test/support/model/forgetful_disk.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using namespace test;

constexpr std::uint64_t all_events = 70;
constexpr std::size_t at_once = 7;

/// Grows after some of the events.
spec small_spec() {
  return make_spec({.capacity = 20, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 1});
}

/// Every third event has the key of the previous one.
std::vector<event> events_from(std::uint64_t first) {
  std::vector<event> events;
  for (std::uint64_t i = first; i < std::min(first + at_once, all_events); ++i)
    events.push_back({i, random_digests(i % 3 == 2 ? i - 1 : i)()});
  return events;
}

std::string expected_of(const std::vector<event>& events) {
  std::string verdicts;
  for (const event& e : events) verdicts += e.position % 3 == 2 ? '1' : '0';
  return verdicts;
}

struct acknowledged_job {
  bool job = false;
  std::uint64_t settled = 0;
};

/// Claims all events, or those before the power loss; reopens the filter after some of them.
acknowledged_job job_life(const std::filesystem::path& where, forgetful_disk& on) {
  acknowledged_job done;
  try {
    file_store filters(where, sync_policy::always, on);
    auto filter = filters.create("f", small_spec());
    auto job = filter->open_ledger("count", "");
    done.job = true;
    for (std::uint64_t next = 0; next < all_events; next += at_once) {
      if (next == all_events / 2) {
        job.reset();
        filter.reset();
        filter = filters.open("f", access::write);
        job = filter->open_ledger("count", "");
      }
      const auto events = events_from(next);
      const claimed got = claim_events(*job, small_spec(), {"log", done.settled}, events);
      if (!got.result) return done;
      EXPECT_EQ(text_of(got.verdicts), expected_of(events));
      if (next / at_once % 3 != 2) continue;
      job->settle(std::vector<checkpoint>{{"log", next + at_once}});
      done.settled = next + at_once;
    }
  } catch (const error&) {
    // the disk is gone
  }
  return done;
}

/// @param on  the disk of the machine on which the directory is found
void expect_exact(const std::filesystem::path& where, disk& on, const acknowledged_job& done) {
  file_store filters(where, sync_policy::never, on);
  if (!filters.exists("f")) {
    EXPECT_FALSE(done.job);
    return;
  }
  const auto filter = filters.open("f", access::write);
  EXPECT_TRUE(!done.job || filters.jobs("f") == std::vector<std::string>{"count"});
  const auto job = filter->open_ledger("count", "");
  EXPECT_EQ(job->doubt(), "");
  const auto reached = job->checkpoints();
  const std::uint64_t settled = reached.contains("log") ? reached.at("log").position : 0;
  ASSERT_GE(settled, done.settled);
  for (std::uint64_t next = settled; next < all_events; next += at_once) {
    const auto events = events_from(next);
    ASSERT_EQ(text_of(claim_events(*job, small_spec(), {"log", settled}, events).verdicts),
              expected_of(events))
        << "from " << next << ", settled " << settled;
  }
}

// Promise: a power loss under sync=always loses no event (files, Jobs).
TEST(FileJobPowerLoss, AtAnyMomentEveryEventIsFreshOnce) {
  for (std::uint64_t cut = 0;; ++cut) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.cut_power(cut);
    const acknowledged_job done = job_life(scratch.path(), on);
    for (unsigned luck = 0; luck < 4; ++luck) {
      SCOPED_TRACE("cut at " + std::to_string(cut) + ", luck " + std::to_string(luck));
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      disk_after_boot booted;
      expect_exact(found.path(), booted, done);
      if (HasFailure()) return;
    }
    if (!on.has_failed()) {
      EXPECT_GT(cut, 80u);
      EXPECT_EQ(done.settled, 63u);
      return;
    }
  }
}

// Promise: a crash of the process loses no event under any sync (files, Jobs).
TEST(FileJobKill, AtAnyMomentTheFilterOpensAndEveryEventIsFreshOnce) {
  for (std::uint64_t cut = 0;; ++cut) {
    SCOPED_TRACE("killed at " + std::to_string(cut));
    const scratch_directory scratch;
    forgetful_disk on;
    on.fail(cut);  // does nothing from there on, and the page cache keeps earlier writes
    const acknowledged_job done = job_life(scratch.path(), on);
    ASSERT_NO_THROW(expect_exact(scratch.path(), disk::real(), done));
    if (HasFailure() || !on.has_failed()) return;
  }
}

TEST(FileJobDisk, JobWhoseJournalCannotBeSyncedDoesNotBlockOthers) {
  const scratch_directory scratch;
  const scratch_directory found;
  forgetful_disk on;
  const auto events = events_from(7);  // the second has the key of the first
  {
    file_store filters(scratch.path(), sync_policy::never, on);
    const auto filter = filters.create("f", small_spec());
    const auto broken = filter->open_ledger("a", "");
    const auto sound = filter->open_ledger("b", "");
    ASSERT_TRUE(claim_events(*broken, small_spec(), {"log", 0}, events_from(0)).result);
    on.fail(on.operations(), 1);
    EXPECT_THROW(filter->sync(), storage_error);
    ASSERT_TRUE(claim_events(*sound, small_spec(), {"log", 0}, std::span(events).first(1)).result);
    EXPECT_THROW(filter->sync(), storage_error) << "that of the first is still not on the disk";
    on.after_power_loss(scratch.path(), found.path(), 0);
  }
  disk_after_boot booted;
  const auto filter = file_store(found.path(), sync_policy::never, booted).open("f", access::write);
  const auto again =
      claim_events(*filter->open_ledger("b", ""), small_spec(), {"log", 0}, std::span(events).subspan(1, 1));
  EXPECT_EQ(text_of(again.verdicts), "1") << "events that were claimed before its sync are remembered";
}

/// The state of an unclosed filter after a power loss.
class UnsyncedJob : public testing::Test {
 protected:
  UnsyncedJob() {
    forgetful_disk on;
    file_store filters(before_.path(), sync_policy::never, on);
    const auto filter = filters.create("f", small_spec());
    const auto job = filter->open_ledger("count", "");
    for (const std::uint64_t next : {0, 7, 14}) {
      const auto events = events_from(next);
      EXPECT_TRUE(claim_events(*job, small_spec(), {"log", 0}, events).result);
      if (next < 14) filter->sync();  // the second also writes the length of the first to the disk
    }
    for (unsigned luck = 0; luck < found_.size(); ++luck)
      on.after_power_loss(before_.path(), found_[luck].path(), luck);
  }
  static std::filesystem::path journal_in(const scratch_directory& found) {
    return found.path() / "f/jobs/count";
  }

  scratch_directory before_;
  std::array<scratch_directory, 40> found_;
  disk_after_boot on_;
};

// Promise: after a power loss only what was not synced may be missing, and that is reported (files, Jobs).
TEST_F(UnsyncedJob, AfterAPowerLossHasAllSyncedEventsAndReportsThatMoreMayBeLost) {
  for (unsigned luck = 0; luck < found_.size(); ++luck) {
    SCOPED_TRACE(luck);
    file_store filters(found_[luck].path(), sync_policy::never, on_);
    const auto filter = filters.open("f", access::write);
    const auto job = filter->open_ledger("count", "");
    EXPECT_NE(job->doubt(), "");
    for (const std::uint64_t next : {0, 7})
      EXPECT_EQ(text_of(claim_events(*job, small_spec(), {"log", 0}, events_from(next)).verdicts),
                expected_of(events_from(next)));
  }
}

// Promise: after a power loss only what was not synced may be missing, and that is reported (files, Jobs).
TEST_F(UnsyncedJob, AfterAPowerLossLosesNoSyncedEventWithoutAnError) {
  for (const scratch_directory& found : found_) {
    file_store filters(found.path(), sync_policy::never, on_);
    std::filesystem::resize_file(journal_in(found), 100);  // in the first record
    EXPECT_THROW((void)filters.open("f", access::write), format_error);
    EXPECT_THROW((void)filters.open("f", access::read)->open_ledger("count", ""), format_error);
  }
}

// Promise: a job is doubted until it has settled again (files, Jobs).
TEST_F(UnsyncedJob, IsDoubtedUntilItHasSettledAgain) {
  file_store filters(found_[0].path(), sync_policy::never, on_);
  for (int opened = 0; opened < 3; ++opened)
    EXPECT_NE(filters.open("f", access::write)->open_ledger("count", "")->doubt(), "") << opened;
  filters.open("f", access::write)->open_ledger("count", "")->settle(std::vector<checkpoint>{{"log", 7}});
  EXPECT_EQ(filters.open("f", access::write)->open_ledger("count", "")->doubt(), "");
}

TEST_F(UnsyncedJob, OnlyKilledIsNotDoubtedAndLosesNothing) {
  const scratch_directory dead;
  {
    file_store filters(dead.path() / "living", sync_policy::never);
    const auto filter = filters.create("f", small_spec());
    const auto job = filter->open_ledger("count", "");
    ASSERT_TRUE(claim_events(*job, small_spec(), {"log", 0}, events_from(0)).result);
    std::filesystem::copy(dead.path() / "living", dead.path() / "killed",
                          std::filesystem::copy_options::recursive);
  }
  file_store filters(dead.path() / "killed", sync_policy::never);
  EXPECT_EQ(filters.open("f", access::write)->open_ledger("count", "")->doubt(), "");
}

/// Makes a segment as a power loss may leave it: without the last keys, and with a key count that is too
/// high.
void take_bits_and_fill(const std::filesystem::path& segment, std::uint64_t capacity) {
  std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
  const std::uint64_t count = image::encode_key_count(capacity);
  file.seekp(image::key_count_offset).write(reinterpret_cast<const char*>(&count), sizeof count);
  constexpr std::size_t page_bytes = 4096;
  const std::string none(std::filesystem::file_size(segment) - page_bytes, '\0');
  file.seekp(page_bytes).write(none.data(), static_cast<std::streamsize>(none.size()));
}

TEST(FileJobDisk, FullFilterWithoutRoomForTheKeysOfAJournalOpensAndReportsThem) {
  spec full = small_spec();
  full.growth = growth_kind::refuse;
  const scratch_directory scratch;
  {
    file_store filters(scratch.path() / "living", sync_policy::never);
    const auto filter = filters.create("f", full);
    const auto job = filter->open_ledger("count", "");
    ASSERT_TRUE(claim_events(*job, full, {"log", 0}, events_from(0)).result);
    std::filesystem::copy(scratch.path() / "living", scratch.path() / "left",
                          std::filesystem::copy_options::recursive);
  }
  take_bits_and_fill(scratch.path() / "left/f/segments/0.0.0", full.capacity);
  file_store filters(scratch.path() / "left", sync_policy::never);
  {
    const auto filter = filters.open("f", access::write);
    const auto job = filter->open_ledger("count", "");
    EXPECT_NE(job->doubt().find("no room"), std::string::npos) << job->doubt();
    EXPECT_EQ(text_of(claim_events(*job, full, {"log", 0}, events_from(0)).verdicts),
              expected_of(events_from(0)));
  }
  filters.end_job("f", "count");
  EXPECT_TRUE(filters.jobs("f").empty());
}

TEST(FileJobDisk, FailedSyncOfAJournalStopsItUntilItIsReopened) {
  const scratch_directory scratch;
  forgetful_disk on;
  file_store filters(scratch.path(), sync_policy::always, on);
  auto filter = filters.create("f", small_spec());
  auto job = filter->open_ledger("count", "");
  on.fail(on.operations() + 1, 1, EIO);  // after the write of the record
  const claimed doubtful = claim_events(*job, small_spec(), {"log", 0}, events_from(0));
  EXPECT_FALSE(doubtful.result);
  EXPECT_EQ(text_of(doubtful.verdicts), "3333333");
  EXPECT_FALSE(claim_events(*job, small_spec(), {"log", 0}, events_from(0)).result);
  job.reset();
  filter.reset();
  filter = filters.open("f", access::write);
  job = filter->open_ledger("count", "");
  EXPECT_EQ(text_of(claim_events(*job, small_spec(), {"log", 0}, events_from(0)).verdicts),
            expected_of(events_from(0)));
}

}  // namespace
}  // namespace everseen
