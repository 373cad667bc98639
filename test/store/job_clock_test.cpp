// A job of a filter with a window. Its clock jumps forwards and backwards by hours, and it is killed and
// restarted in between. Every event has the verdict of an undisturbed run, `late` where the window implies
// it.

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "everseen/core/spec/window.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/claimed_events.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using namespace test;
using namespace std::chrono_literals;

spec windowed() {
  spec s = make_spec({.capacity = 2'000, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 1});
  s.window = window_spec{1h, 4};
  return s;
}

/// Events with the times of a jumping clock; one in three repeats a key of a while before.
std::vector<event> events_of(unsigned seed, event_time& time) {
  std::mt19937 chance(seed);
  std::vector<event> events;
  for (std::uint64_t i = 0; i < 600; ++i) {
    time += std::chrono::seconds(chance() % 60);
    if (chance() % 50 == 0) time += std::chrono::hours(chance() % 7);
    if (chance() % 50 == 0) time -= std::chrono::hours(chance() % 7);
    const std::uint64_t key = chance() % 3 == 0 && i > 20 ? i - 1 - chance() % 20 : i;
    events.push_back({i, random_digests(key)(), time});
  }
  return events;
}

/// By the rules of doc/dedup.md, "Windows and time", with sets.
std::string verdicts_by_the_rules(const std::vector<event>& events, const spec& s) {
  std::string verdicts;
  std::map<std::pair<std::uint64_t, std::uint64_t>, window::slice_index> known;
  std::optional<window::slice_index> newest;
  for (const event& e : events) {
    const auto slice = window::slice_at(*s.window, e.time);
    if (newest && slice < window::oldest_live(*s.window, *newest)) {
      verdicts += '2';
      continue;
    }
    newest = std::max(newest.value_or(slice), slice);
    const auto key = std::pair(e.key.low, e.key.high);
    const auto before = known.find(key);
    const bool is_known = before != known.end() && before->second >= window::oldest_live(*s.window, *newest);
    if (!is_known) known[key] = slice;
    verdicts += is_known ? '1' : '0';
  }
  return verdicts;
}

/// Claims in batches of any size; now and then another worker takes over at the last settlement.
/// @param restart  returns the filter as the next worker finds it
template <typename Restart>
std::string claim_with_restarts(const std::vector<event>& events, unsigned seed, const Restart& restart) {
  std::mt19937 chance(seed + 1);
  std::string first(events.size(), '3');
  std::shared_ptr<stored_filter> filter = restart(nullptr);
  auto job = filter->open_ledger("count", "");
  std::uint64_t settled = 0;
  for (std::size_t next = 0; next < events.size();) {
    const std::size_t n = std::min<std::size_t>(1 + chance() % 30, events.size() - next);
    const auto got =
        claim_events(*job, filter->get_spec(), {"lane", settled}, std::span(events).subspan(next, n));
    EXPECT_TRUE(got.result);
    const std::string verdicts = text_of(got.verdicts);
    for (std::size_t i = 0; i < n; ++i) {
      char& told = first[next + i];
      if (told == '3') told = verdicts[i];
      EXPECT_EQ(told == '0', verdicts[i] == '0') << next + i << " is fresh once, or whenever it is repeated";
    }
    next += n;
    if (chance() % 4 == 0) {
      job->settle(std::vector<checkpoint>{{"lane", next}});
      settled = next;
    }
    if (chance() % 8 != 0) continue;
    job.reset();
    filter = restart(std::move(filter));
    job = filter->open_ledger("count", "");
    const auto reached = job->checkpoints();
    next = settled = reached.contains("lane") ? reached.at("lane").position : 0;
  }
  return first;
}

// Promise: with times in the records a clock that jumps changes no verdict (dedup, Lines without times).
TEST(JobClock, JumpByHoursDoesNotChangeAVerdictInFiles) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    event_time time(1'700'000'000s);
    const auto events = events_of(seed, time);
    const scratch_directory scratch;
    std::filesystem::path where = scratch.path() / "0";
    int starts = 0;
    const auto store_in = [&](const std::filesystem::path& file) {
      // The clock of the store is that of the last jump: it does not affect when keys were added.
      return file_store(file, sync_policy::never, disk::real(), [&time] { return time; });
    };
    (void)store_in(where).create("f", windowed());
    const auto restart = [&](std::shared_ptr<stored_filter> before) {
      if (before && ++starts % 2 == 0) {  // as if killed: the files as they are now
        const std::filesystem::path copy = scratch.path() / std::to_string(starts);
        std::filesystem::copy(where, copy, std::filesystem::copy_options::recursive);
        where = copy;
      }
      before.reset();
      time += starts % 3 == 0 ? -5h : 5h;
      return store_in(where).open("f", access::write);
    };
    const std::string expected = verdicts_by_the_rules(events, windowed());
    EXPECT_EQ(claim_with_restarts(events, seed, restart), expected);
    EXPECT_NE(expected.find('2'), std::string::npos) << "no event was late: nothing was tested";
    EXPECT_GT(starts, 2);
  }
}

// Promise: with times in the records a clock that jumps changes no verdict (dedup, Lines without times).
TEST(JobClock, JumpByHoursDoesNotChangeAVerdictInMemory) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    event_time time(1'700'000'000s);
    const auto events = events_of(seed, time);
    memory_store filters([&time] { return time; });
    const auto kept = filters.create("f", windowed());
    const auto restart = [&](const std::shared_ptr<stored_filter>&) {
      time -= 5h;
      return filters.open("f", access::write);
    };
    EXPECT_EQ(claim_with_restarts(events, seed, restart), verdicts_by_the_rules(events, windowed()));
  }
}

}  // namespace
}  // namespace everseen
