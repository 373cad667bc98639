// Repeated kill -9 of a program with a job, at any step of a claim. A restart at the last checkpoint, in
// other batches, reports exactly one event of each key as fresh, although the same keys arrive in two lanes
// in varying order.

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/child_process.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using namespace test;

constexpr int kills_of_jobs = 300;
constexpr int failed = -1;

/// Every third event has the key of the previous one.
std::vector<event> events_from(std::uint64_t first, std::size_t n) {
  std::vector<event> events;
  for (std::uint64_t i = first; i < first + n; ++i)
    events.push_back({i, random_digests(i % 3 == 2 ? i - 1 : i)()});
  return events;
}

/// Whether exactly one event of each key was fresh, in either lane.
/// @param one, other  verdicts of whole groups of three events, in two lanes
bool are_fresh_once(const std::string& one, const std::string& other) {
  for (std::size_t i = 0; i < one.size(); i += 3) {
    const auto fresh = [&](std::size_t from, std::size_t n) {
      return std::ranges::count(one.substr(from, n) + other.substr(from, n), '0');
    };
    if (fresh(i, 1) != 1 || fresh(i + 1, 2) != 1) return false;
  }
  return true;
}

class FileJobCrash : public testing::TestWithParam<sync_policy> {
 protected:
  /// Runs until it is killed; reports the number of batches that it has claimed.
  void claim(int seed, const child_process::tell& tell) {
    try {
      file_store filters(scratch_.path(), GetParam());
      const auto filter = filters.open("f", access::write);
      const auto job = filter->open_ledger("count", "");
      const auto reached = job->checkpoints();
      std::uint64_t settled = reached.contains("log") ? reached.at("log").position : 0;
      std::uint64_t next = settled;
      std::mt19937 chance(static_cast<unsigned>(seed));
      for (int batch = 0;; ++batch) {
        const auto events = events_from(next, 3 * (1 + chance() % 13));
        std::map<std::string, std::string> verdicts;
        for (const char* lane : {chance() % 2 == 0 ? "log" : "mirror", "log", "mirror"})
          verdicts[lane] = text_of(claim_events(*job, spec_, {lane, settled}, events).verdicts);
        if (!are_fresh_once(verdicts["log"], verdicts["mirror"])) {
          std::fprintf(stderr, "from %llu: %s, %s\n", static_cast<unsigned long long>(next),
                       verdicts["log"].c_str(), verdicts["mirror"].c_str());
          return tell(failed);
        }
        next += events.size();
        if (chance() % 4 == 0) {
          job->settle(std::vector<checkpoint>{{"log", next}, {"mirror", next}});
          settled = next;
        }
        tell(batch);
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "claimer: %s\n", e.what());
      tell(failed);
    }
  }

  scratch_directory scratch_;
  const spec spec_ = make_spec({.capacity = 500, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 2});
};

// Promise: a crash of the process loses no event under any sync (files, Jobs).
TEST_P(FileJobCrash, KilledAtRandomMomentsEveryEventIsFreshOnce) {
  file_store(scratch_.path()).create("f", spec_).reset();
  std::mt19937 chance(7);
  for (int kill = 0; kill < kills_of_jobs; ++kill) {
    child_process claimer([&](const child_process::tell& tell) { claim(kill, tell); });
    const int wait_for = static_cast<int>(chance() % 2 == 0 ? 0 : chance() % 30);
    for (int told = 0; told < wait_for; ++told) {
      const auto batch = claimer.next();
      ASSERT_TRUE(batch && *batch != failed) << "after kill " << kill;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(chance() % 3000));
    claimer.kill();
    while (const auto batch = claimer.next()) ASSERT_NE(*batch, failed) << "after kill " << kill;
  }
  const auto filter = file_store(scratch_.path()).open("f", access::write);
  EXPECT_GT(filter->open_ledger("count", "")->checkpoints().at("log").position, 1'000u);
}

INSTANTIATE_TEST_SUITE_P(Policies, FileJobCrash, testing::Values(sync_policy::never, sync_policy::always),
                         [](const auto& one) {
                           return one.param == sync_policy::never ? "never" : "always";
                         });

}  // namespace
}  // namespace everseen
