#include <cmath>
#include <span>

#include <fmt/format.h>

#include "everseen/core/layout/sizing.hpp"
#include "everseen/report/planning.hpp"
#include "everseen/serve/api/filter_json.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/text/json.hpp"

namespace everseen::serve {

namespace {

/// The memory, in whichever of its units it is given.
std::optional<std::uint64_t> bytes_in(query_parameters& query, std::optional<std::uint64_t> keys) {
  constexpr std::uint64_t most_bits = std::uint64_t{1} << 62;
  const auto bytes = query.count("bytes", {line_bytes, most_bits / 8});
  const auto bits = query.count("bits", {line_bits, most_bits});
  const auto each = query.positive("bits_per_key");
  if (bytes.has_value() + bits.has_value() + each.has_value() > 1)
    refuse_parameter("bytes, bits and bits_per_key are the same in three units; give one");
  if (bits) return (*bits + 7) / 8;
  if (!each) return bytes;
  // Outside these bounds a plan would take long and be useless.
  constexpr double least_each = 0.5, most_each = 4096;
  if (*each < least_each || *each > most_each)
    refuse_parameter(fmt::format("bits_per_key must be a number from {} to {}", least_each, most_each));
  if (!keys)
    refuse_parameter("keys is missing: without it bits_per_key does not give the memory; give bytes or bits");
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(*keys) * *each / 8));
}

void take_sizes(query_parameters& query, plan_request& r) {
  r.keys = query.count("keys", {1, max_capacity});
  r.error_rate = query.rate("error_rate", {sizing::min_error_rate, sizing::max_error_rate});
  r.bytes = bytes_in(query, r.keys);
  if (!r.keys && !r.bytes)
    refuse_parameter("keys is missing: how many different keys you expect; or give bytes or bits");
  r = with_default_rate(r);
}

plan_request parse(std::string_view text) {
  query_parameters query(text);
  query.must_be_among({"keys", "error_rate", "bytes", "bits", "bits_per_key", "layout", "probes", "values"});
  plan_request r;
  take_sizes(query, r);
  if (const auto layout = query.text("layout")) {
    r.layout = parse_own_layout(*layout);
    if (!r.layout)
      refuse_parameter(
          fmt::format("layout is '{}'; it must be one of classic, line-8x64, line-16x32, two-line-8x64, "
                      "two-line-16x32",
                      layout->substr(0, 64)));
  }
  if (const auto probes = query.integer("probes", 1, max_probes)) r.probes = static_cast<unsigned>(*probes);
  r.values = query.count("values", {1, max_capacity});
  query.must_be_all_taken();
  return r;
}

json row_json(const plan_row& row) {
  auto curve = json::array();
  if (row.layout)
    for (const curve_point& p : curve_of(row))
      curve.push_back({{"keys", p.keys}, {"error_rate", p.error_rate}});
  return {{"structure", row.structure},         {"keys", row.keys},         {"bytes", row.bytes},
          {"bits_per_key", row.bits_per_key()}, {"probes", row.probes},     {"cache_lines", row.lines},
          {"error_rate", row.error_rate},       {"curve", std::move(curve)}};
}

/// Schema `plan`: the size of each structure for a number of keys. Asks no store.
http_response answer_plan(http_call& c) {
  const plan_request request = parse(c.from.query());
  const plan_result plan = make_plan(request);
  auto rows = json::array();
  for (const plan_row& row : plan.rows) rows.push_back(row_json(row));
  json all = {{"picked", plan.rows[plan.picked].structure},
              {"reason", plan.reason},
              {"structures", std::move(rows)},
              {"command", command_of(request, plan)}};
  if (plan.bytes_when_growing) all["bytes_when_growing"] = *plan.bytes_when_growing;
  return json_response(all);
}

}  // namespace

std::span<const http_route> plan_routes() {
  static constexpr http_route routes[] = {
      {http_method::get, "/api/v1/plan", right::read, runs::aside, answer_plan, "http|plan"},
  };
  return routes;
}

}  // namespace everseen::serve
