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

TEST(Planning, ReportsTheBytesOfSizing) {
  const plan_result plan = make_plan({.keys = 10'000'000, .error_rate = 1e-6, .bytes = {}, .values = {}});
  for (const layout_kind layout : all_layouts) {
    const geometry shape = sizing::smallest(layout, 0, {10'000'000, 1e-6});
    EXPECT_EQ(row_of(plan, layout).bytes, shape.bytes);
    EXPECT_EQ(row_of(plan, layout).probes, shape.probes);
    EXPECT_LE(row_of(plan, layout).error_rate, 1e-6);
  }
}

TEST(Planning, PicksTheLayoutThatCreateUses) {
  for (const double rate : {0.01, 1e-4, 1e-6, 1e-9, 1e-12}) {
    const plan_result plan = make_plan({.keys = 100'000, .error_rate = rate, .bytes = {}, .values = {}});
    const spec created = make_spec({.capacity = 100'000, .error_rate = rate});
    EXPECT_EQ(plan.rows[plan.picked].layout, created.layout) << rate;
  }
}

TEST(Planning, ReportsTheRateThatMemoryAllows) {
  const plan_result plan = make_plan({.keys = 10'000'000, .error_rate = {}, .bytes = 64 << 20, .values = {}});
  for (const layout_kind layout : all_layouts) {
    const plan_row& row = row_of(plan, layout);
    const geometry shape = {layout, static_cast<std::uint8_t>(row.probes), 64 << 20};
    EXPECT_EQ(row.bytes, 64 << 20);
    EXPECT_EQ(row.error_rate, sizing::error_rate(shape, 10e6));
  }
}

TEST(Planning, ReportsTheKeysThatFit) {
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

TEST(Planning, ReportsTheFewestProbesThatKeepTheRate) {
  const plan_request request = {.keys = 1'000'000, .error_rate = 0.01, .bytes = 1'250'000, .values = {}};
  const plan_result plan = make_plan(request);
  const plan_row& row = plan.rows[plan.picked];
  EXPECT_EQ(row.layout, layout_kind::classic);
  EXPECT_EQ(row.probes, 5U);  // the best are 7
  const auto rate_with = [&](std::uint8_t probes) {
    return sizing::error_rate({layout_kind::classic, probes, row.bytes}, 1e6);
  };
  EXPECT_LE(rate_with(5), 0.01);
  EXPECT_GT(rate_with(4), 0.01);
  EXPECT_EQ(command_of(request, plan),
            "everseen create NAME --capacity 1000000 --error-rate 0.01 --layout classic --probes 5");
}

TEST(Planning, RefusesARateThatNoNumberOfProbesReaches) {
  EXPECT_THROW(
      static_cast<void>(make_plan({.keys = 1'000'000, .error_rate = 0.01, .bytes = 1'000'000, .values = {}})),
      parameter_error);
}

TEST(Planning, RefusesInputThatLeavesNothingToCompute) {
  const plan_request all = {.keys = 1'000, .error_rate = 0.1, .bytes = 1'000, .values = {}};
  plan_request probes = all;
  probes.probes = 3;
  EXPECT_THROW(static_cast<void>(make_plan(probes)), parameter_error);
  plan_request line = all;
  line.layout = layout_kind::line_8x64;
  EXPECT_THROW(static_cast<void>(make_plan(line)), parameter_error);
}

TEST(Planning, NeedsTwoOfThree) {
  EXPECT_THROW(static_cast<void>(make_plan({})), parameter_error);
  EXPECT_THROW(static_cast<void>(make_plan({.keys = 5, .error_rate = {}, .bytes = {}, .values = {}})),
               parameter_error);
}

}  // namespace
}  // namespace everseen
