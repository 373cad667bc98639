// A partition whose heap has no memory at one allocation after another.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/spec.hpp"

#include "test/support/model/partition_doubles.hpp"

namespace {

// Of this thread, while a failing_heap lives.
thread_local bool is_counted = false;
thread_local std::uint64_t allocations = 0, failing = UINT64_MAX;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (is_counted && allocations++ == failing) throw std::bad_alloc();
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* const place = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

// All other forms of new call these. Those of AddressSanitizer do not; libstdc++ uses one of them here.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* place) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::size_t /*bytes*/) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::align_val_t /*alignment*/) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::size_t /*bytes*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(place);
}

namespace everseen {
namespace {

using test::owned_batch;
using test::timed_key;
using testing::ElementsAreArray;

/// While it lives, one allocation of this thread fails: number `which`, from 0.
class failing_heap {
 public:
  explicit failing_heap(std::uint64_t which) {
    allocations = 0, failing = which;
    is_counted = true;
  }
  ~failing_heap() { is_counted = false; }
  failing_heap(const failing_heap&) = delete;
  failing_heap& operator=(const failing_heap&) = delete;
  [[nodiscard]] static bool has_failed() noexcept { return allocations > failing; }
};

spec growing_spec(bool window) {
  spec_request request{.capacity = 20, .error_rate = 1e-15, .seed = hash_seed{1, 2}};
  if (window) request.window = window_spec{std::chrono::milliseconds(400), 4};
  request.partitions = 1;
  return make_spec(request);
}

struct run_result {
  std::vector<verdict> verdicts;
  std::uint64_t keys = 0;
  bool has_failed = false;
};

/// Adds the batches. In the batch `disturbed`, allocation `which` fails, and the keys left unknown are added
/// again.
run_result run_without_memory(const spec& s, const std::vector<std::vector<timed_key>>& batches,
                              std::size_t disturbed, std::uint64_t which) {
  test::checked_segments place;
  partition logic(s, 0, place);
  run_result all;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    owned_batch batch(batches[b]);
    const partition_batch view = batch.view();
    const std::uint64_t keys_before = logic.state().keys();
    batch_result result;
    if (b == disturbed) {
      const failing_heap heap(which);
      result = logic.add(view);
      all.has_failed = failing_heap::has_failed();
    } else {
      result = logic.add(view);
    }
    EXPECT_EQ(result.has_value(), !(b == disturbed && all.has_failed));
    if (!result) {
      EXPECT_EQ(result.error().why, batch_failure::cause::storage);
      const tally done = test::count(batch.out);
      if (!s.window) {
        EXPECT_EQ(logic.state().keys(), keys_before + done.fresh) << "an unknown key was added";
      }
      test::retry_unknown(batches[b], batch, logic);
    }
    all.verdicts.insert(all.verdicts.end(), batch.out.begin(), batch.out.end());
  }
  all.keys = logic.state().keys();
  return all;
}

class PartitionWithoutMemory : public testing::TestWithParam<bool> {};

// Promise: a retry of the unknown keys gets the verdicts of an undisturbed run, no matter which step failed
// (guarantees, Failures).
TEST_P(PartitionWithoutMemory, AnswersARetryAsIfNothingHadFailed) {
  const bool window = GetParam();
  const spec s = growing_spec(window);
  const auto batches = test::troublesome_batches(window);
  const run_result undisturbed = run_without_memory(s, batches, batches.size(), 0);
  std::uint64_t failures = 0;
  for (std::size_t b = 0; b < batches.size(); ++b)
    for (std::uint64_t which = 0;; ++which) {
      SCOPED_TRACE("allocation " + std::to_string(which) + " of batch " + std::to_string(b) + " fails");
      const run_result disturbed = run_without_memory(s, batches, b, which);
      ASSERT_THAT(disturbed.verdicts, ElementsAreArray(undisturbed.verdicts));
      ASSERT_EQ(disturbed.keys, undisturbed.keys);
      if (!disturbed.has_failed) break;
      ++failures;
    }
  EXPECT_GT(failures, window ? 20U : 5U);
}

INSTANTIATE_TEST_SUITE_P(Partition, PartitionWithoutMemory, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "WithWindow" : "WithoutWindow";
});

}  // namespace
}  // namespace everseen
