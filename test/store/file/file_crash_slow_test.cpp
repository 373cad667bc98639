// Repeated kill -9: acknowledged keys are remembered, and the filter opens.

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
using namespace std::chrono_literals;

constexpr int kills_of_writers = 400;

struct kill_case {
  const char* name;
  std::optional<window_spec> window;
  sync_policy policy;
};

class FileCrash : public testing::TestWithParam<kill_case> {
 protected:
  static spec busy_spec() {
    spec s = make_spec({.capacity = 150, .error_rate = 1e-6, .seed = hash_seed{}, .partitions = 2});
    s.window = GetParam().window;
    return s;
  }
  static std::vector<digest> keys_of(int batch) {
    return random_digests(static_cast<std::uint64_t>(batch)).take(20);
  }
  static event_time time_of(int batch) { return event_time(batch * 1s); }

  /// Runs until it is killed; reports each batch that was answered.
  void write_from(int first, const child_process::tell& tell) {
    try {
      file_store filters(scratch_.path(), GetParam().policy);
      const auto filter = filters.open("f", access::write);
      for (int batch = first;; ++batch) {
        if (!add_keys(*filter, keys_of(batch), time_of(batch)).result) return tell(failed);
        tell(batch);
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "writer: %s\n", e.what());
      tell(failed);
    }
  }

  /// @param next  the first batch without an answer; its keys may be in all the same
  void expect_remembered(int next) {
    file_store filters(scratch_.path(), sync_policy::never);
    const auto filter = filters.open("f", access::read);
    // Without a window all batches must be present; the older ones are checked in turn.
    const int step = GetParam().window ? 1 : 1 + next / 200;
    for (int batch = GetParam().window ? std::max(0, next - 12) : next % step; batch < next; batch += step) {
      const answers got = check_keys(*filter, keys_of(batch), time_of(next));
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(got.result->seen, 20u) << "batch " << batch << " of " << next;
    }
  }

  static constexpr int failed = -1;
  scratch_directory scratch_;
};

// Promise: writers killed at random moments lose nothing acknowledged, and the filter opens (files,
// Durability).
TEST_P(FileCrash, KilledAtRandomMomentsForgetsNothingAcknowledged) {
  file_store(scratch_.path()).create("f", busy_spec()).reset();
  std::mt19937 chance(1);
  int next = 0;
  for (int kill = 0; kill < kills_of_writers; ++kill) {
    {
      child_process writer([&](const child_process::tell& tell) { write_from(next, tell); });
      // Half of the kills occur while it opens or in the first batches, the others anywhere.
      const int wait_for = static_cast<int>(chance() % 2 == 0 ? 0 : chance() % 30);
      for (int told = 0; told < wait_for; ++told) {
        const auto batch = writer.next();
        ASSERT_TRUE(batch && *batch != failed) << "the filter did not open or add after kill " << kill;
        next = *batch + 1;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(chance() % 3000));
      writer.kill();
      while (const auto batch = writer.next()) {  // reported before the kill
        ASSERT_NE(*batch, failed) << "after kill " << kill;
        next = *batch + 1;
      }
    }
    expect_remembered(next);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(next, kills_of_writers) << "the writers should make progress";
  EXPECT_NO_THROW((void)file_store(scratch_.path()).open("f", access::write));
}

INSTANTIATE_TEST_SUITE_P(Filters, FileCrash,
                         testing::Values(kill_case{"growing", std::nullopt, sync_policy::never},
                                         kill_case{"windowed", window_spec{15s, 5}, sync_policy::interval},
                                         kill_case{"synced", window_spec{15s, 5}, sync_policy::always}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace everseen
