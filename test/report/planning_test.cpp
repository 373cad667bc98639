#include "everseen/report/planning.hpp"

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {
namespace {

const plan_row& row_of(const plan_result& plan, layout_kind layout) {
  for (const plan_row& row : plan.rows)
    if (row.layout == layout) return row;
  throw std::logic_error("no such row");
}

TEST(Planning, GivesTheBytesOfSizing) {
  const plan_result plan = make_plan({.keys = 10'000'000, .error_rate = 1e-6, .bytes = {}, .values = {}});
  for (const layout_kind layout : all_layouts) {
    const geometry shape = sizing::smallest(layout, 0, {10'000'000, 1e-6});
    EXPECT_EQ(row_of(plan, layout).bytes, shape.bytes);
    EXPECT_EQ(row_of(plan, layout).probes, shape.probes);
    EXPECT_LE(row_of(plan, layout).error_rate, 1e-6);
  }
}

TEST(Planning, PicksTheLayoutThatCreateTakes) {
  for (const double rate : {0.01, 1e-4, 1e-6, 1e-9, 1e-12}) {
    const plan_result plan = make_plan({.keys = 100'000, .error_rate = rate, .bytes = {}, .values = {}});
    const spec created = make_spec({.capacity = 100'000, .error_rate = rate});
    EXPECT_EQ(plan.rows[plan.picked].layout, created.layout) << rate;
  }
}

TEST(Planning, GivesTheRateThatMemoryReaches) {
  const plan_result plan = make_plan({.keys = 10'000'000, .error_rate = {}, .bytes = 64 << 20, .values = {}});
  for (const layout_kind layout : all_layouts) {
    const plan_row& row = row_of(plan, layout);
    const geometry shape = {layout, static_cast<std::uint8_t>(row.probes), 64 << 20};
    EXPECT_EQ(row.bytes, 64 << 20);
    EXPECT_EQ(row.error_rate, sizing::error_rate(shape, 10e6));
  }
}

TEST(Planning, GivesTheKeysThatFit) {
  const plan_result plan = make_plan({.keys = {}, .error_rate = 0.001, .bytes = 1 << 20, .values = {}});
  const plan_row& row = row_of(plan, layout_kind::line_8x64);
  EXPECT_EQ(row.keys, sizing::capacity({layout_kind::line_8x64, 8, 1 << 20}, 0.001));
}

TEST(Planning, ComparesWithABitmapOverTheValues) {
  const plan_result plan =
      make_plan({.keys = 10'000'000, .error_rate = 0.01, .bytes = {}, .values = 10'000'000'000});
  EXPECT_EQ(plan.rows[1].structure, "bitmap");
  EXPECT_EQ(plan.rows[1].bytes, 1'250'000'000);
}

TEST(Planning, WantsTwoOfThree) {
  EXPECT_THROW(static_cast<void>(make_plan({})), parameter_error);
  EXPECT_THROW(static_cast<void>(make_plan({.keys = 5, .error_rate = {}, .bytes = {}, .values = {}})),
               parameter_error);
  EXPECT_THROW(static_cast<void>(make_plan({.keys = 5, .error_rate = 0.1, .bytes = 64, .values = {}})),
               parameter_error);
}

}  // namespace
}  // namespace everseen
