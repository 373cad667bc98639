#include "everseen/report/planning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen {

namespace {

/// 64-bit hashes in an open-addressing table that is two thirds full. A set that stores the keys themselves,
/// or allocates a node per key, takes several times as much.
plan_row hash_set(std::uint64_t keys) {
  const auto n = static_cast<double>(keys);
  return {"hash set", {}, 12 * keys, keys, 1, 1, n * std::ldexp(1.0, -64)};
}

plan_row bitmap(std::uint64_t keys, std::uint64_t values) {
  return {"bitmap", {}, (values + 7) / 8, keys, 1, 1, 0};
}

plan_row layout_row(const geometry& shape, std::uint64_t keys) {
  const unsigned lines = shape.layout == layout_kind::classic ? shape.probes : lines_per_key(shape.layout);
  return {std::string(to_string(shape.layout)),
          shape.layout,
          shape.bytes,
          keys,
          shape.probes,
          lines,
          sizing::error_rate(shape, static_cast<double>(keys)),
          shape};
}

/// The number of probes with the lowest rate at the given bits per key: (m/n) ln 2.
unsigned probes_for(layout_kind layout, double bits_per_key) {
  const double best = std::clamp(std::round(bits_per_key * std::log(2.0)), 1.0, double{max_probes});
  return probes_of(layout, static_cast<unsigned>(best));
}

geometry shape_of(layout_kind layout, std::uint64_t bytes, unsigned probes) {
  return {layout, static_cast<std::uint8_t>(probes),
          std::max<std::uint64_t>(bytes / line_bytes, 1) * line_bytes};
}

geometry shape_for(layout_kind layout, const plan_request& r) {
  const unsigned probes = layout == layout_kind::classic ? r.probes.value_or(0) : 0;
  if (!r.bytes) return sizing::smallest(layout, probes, {*r.keys, *r.error_rate});
  const double bits_per_key = r.keys ? 8 * static_cast<double>(*r.bytes) / static_cast<double>(*r.keys)
                                     : sizing::bits_per_key(layout, probes, *r.error_rate);
  return shape_of(layout, *r.bytes, probes > 0 ? probes : probes_for(layout, bits_per_key));
}

std::string why(const plan_result& plan) {
  const plan_row& picked = plan.rows[plan.picked];
  const auto classic = std::find_if(plan.rows.begin(), plan.rows.end(),
                                    [](const plan_row& r) { return r.layout == layout_kind::classic; });
  const double more = 100 * (picked.bits_per_key() / classic->bits_per_key() - 1);
  const std::string lines =
      fmt::format("{} cache {} a key", picked.lines, picked.lines == 1 ? "line" : "lines");
  if (picked.lines >= classic->lines) return "it touches " + lines + ", and no layout fewer";
  std::string memory = "in the same memory";
  if (more >= 0.5) memory = fmt::format("for {:.0f} % more memory a key", more);
  if (more <= -0.5) memory = fmt::format("for {:.0f} % less memory a key", -more);
  return fmt::format("it touches {} where classic touches {}, {}", lines, classic->lines, memory);
}

/// Whether the probes are what is unknown.
bool wants_probes(const plan_request& r) {
  return r.keys && r.error_rate && r.bytes;
}

void check(const plan_request& r) {
  if (r.keys.has_value() + r.error_rate.has_value() + r.bytes.has_value() < 2)
    throw parameter_error(
        "plan needs --keys or --bytes (or --bits), or one of them and --error-rate, or both; it answers with "
        "the rest");
  if (!wants_probes(r)) return;
  if (r.probes)
    throw parameter_error(
        "keys, memory, error rate and probes are all given; leave out the one that plan is to compute");
  if (r.layout.value_or(layout_kind::classic) != layout_kind::classic)
    throw parameter_error(
        fmt::format("{} has a fixed number of probes; leave out the keys, the memory or the error rate",
                    to_string(*r.layout)));
}

/// The fewest probes of the classic layout at which the memory holds the keys within the rate.
unsigned fewest_probes(const plan_request& r) {
  const auto rate_with = [&](unsigned probes) {
    return sizing::error_rate(shape_of(layout_kind::classic, *r.bytes, probes), static_cast<double>(*r.keys));
  };
  unsigned best = 1;
  for (unsigned probes = 1; probes <= max_probes; ++probes) {
    const double rate = rate_with(probes);
    if (rate <= *r.error_rate) return probes;
    if (rate < rate_with(best)) best = probes;
  }
  throw parameter_error(
      fmt::format("no number of probes reaches an error rate of {}: the best, {}, reaches {}; give fewer "
                  "keys, more memory or a higher rate",
                  typed_rate(*r.error_rate), best, typed_rate(rate_with(best))));
}

/// The request with its probes, if they are what is unknown.
plan_request with_probes(plan_request r) {
  check(r);
  if (!wants_probes(r)) return r;
  r.probes = fewest_probes(r);
  r.layout = layout_kind::classic;
  return r;
}

/// Without keys: the capacity, which differs by layout.
std::uint64_t keys_in(const geometry& shape, const plan_request& r) {
  return r.keys ? *r.keys : sizing::capacity(shape, *r.error_rate);
}

std::uint64_t bytes_created(const plan_request& r, layout_kind layout) {
  const auto probes = layout == layout_kind::classic ? r.probes : std::nullopt;
  const spec s =
      make_spec({.capacity = *r.keys, .error_rate = *r.error_rate, .layout = layout, .probes = probes});
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

/// For requests that even the best layout cannot serve usefully.
void pick_the_least_bad(plan_result& plan, std::size_t first_layout) {
  const auto first = plan.rows.begin() + static_cast<std::ptrdiff_t>(first_layout);
  const auto best = std::ranges::min_element(first, plan.rows.end(), {}, &plan_row::error_rate);
  plan.picked = static_cast<std::size_t>(best - plan.rows.begin());
  plan.reason = "in so little memory most new keys would be called seen, whatever the layout; give more";
}

}  // namespace

plan_request with_default_rate(plan_request asked) {
  if (asked.keys.has_value() != asked.bytes.has_value() && !asked.error_rate)
    asked.error_rate = default_error_rate;
  return asked;
}

plan_result make_plan(const plan_request& asked) {
  if (asked.keys && asked.values && *asked.values < *asked.keys)
    throw parameter_error(
        fmt::format("there cannot be {} different keys among {} possible values; raise the "
                    "number of values, or lower that of keys",
                    format_count(*asked.keys), format_count(*asked.values)));
  const plan_request request = with_probes(asked);
  plan_result plan;
  if (request.keys) {
    plan.rows.push_back(hash_set(*request.keys));
    if (request.values) plan.rows.push_back(bitmap(*request.keys, *request.values));
  }
  const std::size_t first_layout = plan.rows.size();
  for (const layout_kind layout : all_layouts) {
    const geometry shape = shape_for(layout, request);
    const std::uint64_t keys = keys_in(shape, request);
    if (keys == 0)
      throw parameter_error(fmt::format("{} bytes hold no key at this rate; give more", *request.bytes));
    plan.rows.push_back(layout_row(shape, keys));
  }
  // If the rate is the unknown, the layout is chosen for the lowest rate that any layout reaches.
  double rate = request.error_rate.value_or(1);
  if (!request.error_rate)
    for (std::size_t i = first_layout; i < plan.rows.size(); ++i)
      rate = std::min(rate, plan.rows[i].error_rate);
  const layout_kind choice = request.layout.value_or(sizing::choose_layout(rate));
  while (plan.rows[plan.picked].layout != choice) ++plan.picked;
  plan.reason = asked.layout          ? "it was asked for"
                : wants_probes(asked) ? std::string("it has the fewest probes that keep the rate")
                                      : why(plan);
  if (constexpr double useless = 0.5; !request.error_rate && !request.layout && rate > useless)
    pick_the_least_bad(plan, first_layout);
  if (!asked.bytes) plan.bytes_when_growing = bytes_created(request, choice);
  return plan;
}

std::vector<curve_point> curve_of(const plan_row& row) {
  constexpr std::uint64_t points = 40;
  std::vector<curve_point> curve;
  for (std::uint64_t i = 0; i <= points; ++i) {
    const double keys = 2.0 * static_cast<double>(row.keys) * static_cast<double>(i) / points;
    const auto whole = static_cast<std::uint64_t>(keys);
    if (!curve.empty() && curve.back().keys == whole) continue;  // few keys give few points
    curve.push_back({whole, whole == 0 ? 0 : sizing::error_rate(row.shape, static_cast<double>(whole))});
  }
  return curve;
}

std::string command_of(const plan_request& request, const plan_result& plan) {
  const plan_row& row = plan.rows[plan.picked];
  std::string command = fmt::format("everseen create NAME --capacity {} --error-rate {}", row.keys,
                                    typed_rate(request.error_rate.value_or(row.error_rate)));
  const bool has_probes = request.probes || wants_probes(request);
  if (request.layout || has_probes) command += fmt::format(" --layout {}", row.structure);
  if (row.layout == layout_kind::classic && has_probes) command += fmt::format(" --probes {}", row.probes);
  return command;
}

namespace {

spec_request judged(spec_request request, judge_kind kind) {
  request.judge = kind;
  return request;
}

}  // namespace

std::uint64_t made_filter::bytes() const {
  return growth::plan_layer(properties, 0).shape.bytes * properties.partitions;
}

double made_filter::bits_per_key() const {
  return 8 * static_cast<double>(bytes()) / static_cast<double>(properties.capacity);
}

std::vector<made_filter> filters_made_on_redis(const spec_request& request, bool module) {
  const redis::redis_url one = redis::parse_redis_url("redis://localhost");
  std::vector<made_filter> all;
  if (request.judge.value_or(judge_kind::server) == judge_kind::server)
    all.push_back({"create, where all servers have the module",
                   redis::plan_for_redis(one, judged(request, judge_kind::server))});
  if (request.judge.value_or(module ? judge_kind::server : judge_kind::client) == judge_kind::client)
    all.push_back({request.judge ? "create --judge client" : "create, on a plain Redis",
                   redis::plan_for_redis(one, judged(request, judge_kind::client))});
  return all;
}

std::vector<made_filter> filters_made_on(const store& place, const spec_request& request) {
  return {{"create", place.plan(request)}};
}

}  // namespace everseen
