#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "everseen/core/partition/partition.hpp"

#include "test/support/model/partition_doubles.hpp"

namespace everseen {
namespace {

using test::checked_segments;
using test::errorless;
using test::exact_partition;
using test::owned_batch;
using test::timed_key;

/// Batches of keys whose times drift forwards, sometimes jump, and are out of order.
std::vector<std::vector<timed_key>> random_batches(std::int64_t slice_ms, std::uint32_t slices) {
  const auto universe = *rc::gen::inRange(1U, 400U);
  const auto count = *rc::gen::inRange<std::size_t>(1, 8);
  const auto longest = *rc::gen::element<std::size_t>(1, 10, 200, 5000);
  const std::uint64_t seed = *rc::gen::arbitrary<std::uint64_t>();
  test::random_digests random(seed);
  std::int64_t time = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000);
  std::vector<std::vector<timed_key>> batches(count);
  for (auto& batch : batches) {
    const bool one_time = random.word() % 2 == 0;
    const std::size_t n = random.word() % (longest + 1);
    for (std::size_t i = 0; i < n; ++i) {
      const auto span = static_cast<std::uint64_t>(slice_ms * (slices + 2));
      std::int64_t when = time;
      if (!one_time) {
        if (random.word() % 4 == 0) time += static_cast<std::int64_t>(random.word() % (span / 8 + 1));
        when = random.word() % 3 == 0 ? time - static_cast<std::int64_t>(random.word() % span) : time;
      }
      batch.push_back({static_cast<unsigned>(random.word() % universe), when});
    }
    if (random.word() % 3 == 0)
      time += slice_ms * static_cast<std::int64_t>(random.word() % (2 * slices + 2));
  }
  return batches;
}

void agree_with_the_model(const spec& s, const std::vector<std::vector<timed_key>>& batches) {
  checked_segments place;
  partition real(s, 0, place);
  exact_partition model(s);
  for (const auto& keys : batches) {
    owned_batch look(keys);
    const partition_state before = real.state();
    real.check(look.view());
    for (std::size_t i = 0; i < keys.size(); ++i) RC_ASSERT(look.out[i] == model.check(keys[i]));
    RC_ASSERT(real.state() == before);

    owned_batch batch(keys);
    const batch_result result = real.add(batch.view());
    for (std::size_t i = 0; i < keys.size(); ++i) RC_ASSERT(batch.out[i] == model.add(keys[i]));
    const tally counted = test::count(batch.out);
    RC_ASSERT((result ? *result : result.error().done) == counted);
    RC_ASSERT(result.has_value() == (counted.unknown == 0));
    RC_ASSERT(real.state() == model.state());
  }
}

growth_kind random_growth() {
  return *rc::gen::element(growth_kind::grow, growth_kind::refuse, growth_kind::overfill);
}

// Promise: a key that was added is never fresh again while the filter remembers it (guarantees, Verdicts).
RC_GTEST_PROP(PartitionProperty, AgreesWithExactSets, ()) {
  // Overfilling a filter of a few keys would soon exceed its error rate and invalidate the model.
  const growth_kind growth = random_growth();
  const auto least = growth == growth_kind::overfill ? 400U : 1U;
  agree_with_the_model(errorless(*rc::gen::inRange(least, least + 100), growth), random_batches(1, 1));
}

// Promise: a key that was added is never fresh again while the filter remembers it (guarantees, Verdicts).
RC_GTEST_PROP(PartitionProperty, AgreesWithExactSetsInAWindow, ()) {
  const auto slices = *rc::gen::inRange(1U, 12U);
  const auto slice_ms = *rc::gen::element<std::int64_t>(1, 3, 100);
  const growth_kind growth = random_growth();
  const auto least = growth == growth_kind::overfill ? 400U * slices : 1U;
  const window_spec w{std::chrono::milliseconds(slice_ms * slices), slices};
  agree_with_the_model(errorless(*rc::gen::inRange(least, least + 100), growth, w),
                       random_batches(slice_ms, slices));
}

}  // namespace
}  // namespace everseen
