#include "everseen/core/partition/rates.hpp"

#include <gtest/gtest.h>

#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {
namespace {

/// A partition state from its key counts: slices of layers.
partition_state filled(
    const spec& s, const std::vector<std::pair<window::slice_index, std::vector<std::uint64_t>>>& slices) {
  partition_state state;
  for (const auto& [index, counts] : slices) {
    slice_state slice{index, {}};
    for (const std::uint64_t keys : counts) {
      const auto plan = growth::plan_layer(s, static_cast<unsigned>(slice.layers.size()));
      slice.layers.push_back({plan.shape, plan.capacity, keys});
    }
    state.slices.push_back(std::move(slice));
  }
  return state;
}

spec plain() {
  return make_spec({.capacity = 10'000, .error_rate = 1e-2, .seed = hash_seed{}, .partitions = 1});
}
spec windowed() {
  return make_spec({.capacity = 10'000,
                    .error_rate = 1e-2,
                    .seed = hash_seed{},
                    .window = window_spec{std::chrono::milliseconds(400), 4},
                    .partitions = 1});
}

double given(const layer_state& layer) {
  return sizing::keys_from_counted(layer.shape, static_cast<double>(layer.keys));
}
double rate(const layer_state& layer) {
  return sizing::error_rate(layer.shape, given(layer));
}

TEST(Rates, AreZeroWithoutKeys) {
  EXPECT_EQ(error_rate_now(plain(), {}), 0);
  EXPECT_EQ(expected_false_seen({}), 0);
  const partition_state empty = filled(plain(), {{0, {0}}});
  EXPECT_NEAR(error_rate_now(plain(), empty), 0, 1e-15);
  EXPECT_NEAR(expected_false_seen(empty), 0, 1e-15);
}

TEST(Rates, OfOneLayerAreThoseOfItsSegment) {
  const partition_state state = filled(plain(), {{0, {10'000}}});
  const layer_state& layer = state.slices[0].layers[0];
  EXPECT_DOUBLE_EQ(error_rate_now(plain(), state), rate(layer));
  EXPECT_DOUBLE_EQ(expected_false_seen(state),
                   sizing::expected_false_positives(layer.shape, {0, given(layer)}));
}

TEST(Rates, KeepTheirDigitsWhenTheyAreTiny) {
  const spec s = make_spec({.capacity = 1000, .error_rate = 1e-15, .seed = hash_seed{}, .partitions = 1});
  const partition_state state = filled(s, {{0, {1000}}});
  EXPECT_DOUBLE_EQ(error_rate_now(s, state), rate(state.slices[0].layers[0]));
}

TEST(Rates, OfSeveralLayersCombine) {
  const partition_state state = filled(plain(), {{0, {10'000, 20'000, 7'000}}});
  const auto& layers = state.slices[0].layers;
  EXPECT_NEAR(error_rate_now(plain(), state),
              1 - (1 - rate(layers[0])) * (1 - rate(layers[1])) * (1 - rate(layers[2])), 1e-12);
  const auto own = [&](std::size_t i) {
    return sizing::expected_false_positives(layers[i].shape, {0, given(layers[i])});
  };
  EXPECT_NEAR(expected_false_seen(state),
              own(0) + own(1) + given(layers[1]) * rate(layers[0]) + own(2) +
                  given(layers[2]) * (rate(layers[0]) + rate(layers[1])),
              1e-6);
}

TEST(Rates, StayWithinThePromiseWhenEveryLayerIsFull) {
  const spec s = plain();
  std::vector<std::uint64_t> counts;
  for (unsigned i = 0; i < 12; ++i) {
    counts.push_back(growth::plan_layer(s, i).capacity);
    EXPECT_LE(error_rate_now(s, filled(s, {{0, counts}})), s.error_rate) << i + 1 << " layers";
  }
}

TEST(Rates, StayWithinThePromiseWhenEveryLiveSliceIsFull) {
  const spec s = windowed();
  std::vector<std::pair<window::slice_index, std::vector<std::uint64_t>>> slices;
  for (int i = 0; i < 5; ++i)
    slices.push_back({i, {growth::plan_layer(s, 0).capacity, growth::plan_layer(s, 1).capacity}});
  EXPECT_LE(error_rate_now(s, filled(s, slices)), s.error_rate);
}

TEST(Rates, ExcludeExpiredSlices) {
  const spec s = windowed();
  EXPECT_DOUBLE_EQ(error_rate_now(s, filled(s, {{0, {2'500}}, {5, {100}}})),
                   error_rate_now(s, filled(s, {{5, {100}}})));
  EXPECT_GT(error_rate_now(s, filled(s, {{1, {2'500}}, {5, {100}}})),
            error_rate_now(s, filled(s, {{5, {100}}})));
}

}  // namespace
}  // namespace everseen
