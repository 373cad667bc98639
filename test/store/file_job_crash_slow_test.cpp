// kill -9 of a program with a job, many times over, at any step of a claim: who begins again at the last
// checkpoint, in other batches, is told of every event what an undisturbed run would have been told.

#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "everseen/store/file_store.hpp"

#include "test/support/child_process.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using namespace test;

constexpr int kills = 300;
constexpr int failed = -1;

/// Every third event has the key of the one before.
std::vector<event> events_from(std::uint64_t first, std::size_t n) {
  std::vector<event> events;
  for (std::uint64_t i = first; i < first + n; ++i)
    events.push_back({i, random_digests(i % 3 == 2 ? i - 1 : i)()});
  return events;
}

std::string expected_from(std::uint64_t first, std::size_t n) {
  std::string verdicts;
  for (std::uint64_t i = first; i < first + n; ++i) verdicts += i % 3 == 2 ? '1' : '0';
  return verdicts;
}

class FileJobCrash : public testing::TestWithParam<sync_policy> {
 protected:
  /// Runs until it is killed; tells how many batches it has claimed.
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
        const std::size_t n = 1 + chance() % 40;
        const auto got = claim_events(*job, spec_, {"log", settled}, events_from(next, n));
        if (text_of(got.verdicts) != expected_from(next, n)) {
          std::fprintf(stderr, "from %llu, settled %llu: %s\n", static_cast<unsigned long long>(next),
                       static_cast<unsigned long long>(settled),
                       got.result ? text_of(got.verdicts).c_str() : got.result.error().message.c_str());
          return tell(failed);
        }
        next += n;
        if (chance() % 4 == 0) {
          job->settle(std::vector<checkpoint>{{"log", next}});
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

TEST_P(FileJobCrash, KilledAtRandomMomentsEveryEventIsFreshOnce) {
  file_store(scratch_.path()).create("f", spec_).reset();
  std::mt19937 chance(7);
  for (int kill = 0; kill < kills; ++kill) {
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
