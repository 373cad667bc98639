#include "everseen/serve/api/filter_json.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/base/url_text.hpp"
#include "everseen/core/partition/rates.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/text/json.hpp"

// These functions write the schemas of openapi.json. What is unknown or does not apply is null and not
// left out, so that a program finds every field in every answer.

namespace everseen::serve {

namespace {

template <typename Number>
json number_or_null(const std::optional<Number>& n) {
  return n ? json(*n) : json();
}

std::optional<std::int64_t> expiry_of(const shared_filter& f) {
  const std::int64_t end = f.expires_at_ms;
  return end == shared_filter::no_expiry ? std::nullopt : std::optional(end);
}

json layer_json(std::size_t number, const layer_state& l) {
  return {{"layer", number},
          {"layout", to_string(l.shape.layout)},
          {"probes", l.shape.probes},
          {"bits", l.shape.bits()},
          {"bytes", l.shape.bytes},
          {"keys", l.keys},
          {"capacity", l.capacity},
          {"fill", l.capacity == 0 ? 0 : static_cast<double>(l.keys) / static_cast<double>(l.capacity)}};
}

json slice_json(const spec& s, const slice_state& slice) {
  auto layers = json::array();
  for (std::size_t i = 0; i < slice.layers.size(); ++i) layers.push_back(layer_json(i, slice.layers[i]));
  const json begins =
      s.window ? json(window::start_of(*s.window, slice.index).time_since_epoch().count()) : json();
  return {{"slice", slice.index}, {"begins_ms", begins}, {"layers", std::move(layers)}};
}

json partition_json(const filter_info& info, std::size_t number) {
  const partition_state& state = info.partitions[number];
  layer_sum sum;
  sum.add(state);
  auto slices = json::array();
  for (const slice_state& slice : state.slices) slices.push_back(slice_json(info.spec, slice));
  return {{"partition", number},
          {"place", info.places[number]},
          {"keys", sum.keys},
          {"room", sum.room},
          {"fill", sum.fill()},
          {"bytes", sum.bytes},
          {"error_rate_now", std::clamp(info.partition_rates[number], 0.0, 1.0)},
          {"slices", std::move(slices)}};
}

json predecessor_json(const std::optional<predecessor>& older) {
  if (!older) return nullptr;
  return {{"name", shown_name(older->name)},
          {"until_ms", older->until ? json(older->until->time_since_epoch().count()) : json()}};
}

}  // namespace

std::string url_of(std::string_view key) {
  const bool is_step = key == "." || key == "..";  // which clients remove from a path
  return "/api/v1/filters/" + percent_encoded(is_step ? '"' + std::string(key) + '"' : shown_name(key));
}

std::string dumped(const json& j) {
  return j.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

http_response json_response(const json& j) {
  http_response r;
  r.body = dumped(j);
  return r;
}

json json_of(const tally& t) {
  return {{"fresh", t.fresh}, {"seen", t.seen}, {"late", t.late}, {"unknown", t.unknown}};
}

json instances_json(const filter_figures& f) {
  auto all = json::array();
  for (const auto& each : f.instances)
    all.push_back(
        {{"place", each.place}, {"partitions", each.partitions}, {"keys", each.keys}, {"bytes", each.bytes}});
  return all;
}

json figures_json(std::string_view key, const spec& s, const filter_figures& f) {
  return {{"name", shown_name(key)},
          {"url", url_of(key)},
          {"keys", f.keys},
          {"capacity", s.capacity},
          {"error_rate", s.error_rate},
          {"error_rate_now", f.error_rate_now},
          {"fill", f.fill},
          {"layers", f.layers},
          {"slices", f.slices},
          {"partitions", s.partitions},
          {"bytes", f.bytes}};
}

json summary_json(const shared_filter& f, const filter_info& info) {
  const spec& s = info.spec;
  json all = figures_json(f.key, s, figures_of(info));
  all["layout"] = to_string(s.layout);
  all["probes"] = s.probes;
  all["hash"] = to_string(s.hash);
  all["growth"] = to_string(s.growth);
  all["window_ms"] = s.window ? json(s.window->width.count()) : json();
  all["window_slices"] = s.window ? json(s.window->slices) : json();
  all["expires_at_ms"] = number_or_null(expiry_of(f));
  all["attached"] = f.handle.stored().estimates_keys();
  return all;
}

json info_json(const shared_filter& f) {
  const filter_info info = f.handle.info();
  json all = summary_json(f, info);
  all["segments"] = info.segments;
  all["expected_false_seen"] = info.expected_false_seen;
  all["asks_first"] = predecessor_json(f.handle.stored().path().asks_first);
  all["instances"] = instances_json(figures_of(info));
  auto partitions = json::array();
  for (std::size_t p = 0; p < info.partitions.size(); ++p) partitions.push_back(partition_json(info, p));
  all["partition_list"] = std::move(partitions);
  return all;
}

namespace {

/// The nearest name of the filters that were opened; empty: none is close. Listing all filters of the store
/// would take longer than the answer is worth.
std::string meant_filter(service& all, std::string_view name) {
  constexpr std::size_t most = 10'000;
  const std::vector<std::string> opened = all.filters().recorded_names(most);
  const std::vector<std::string_view> names(opened.begin(), opened.end());
  return std::string(nearest(name, names));
}

}  // namespace

http_problem unknown_filter(service& all, std::string_view name) {
  const std::string meant = meant_filter(all, name);
  return {404, "no_filter",
          fmt::format("there is no filter named {}; {}", quoted_name(name),
                      meant.empty() ? "GET /api/v1/filters lists all, POST /api/v1/filters makes one"
                                    : fmt::format("did you mean {}?", quoted_name(meant)))};
}

std::shared_ptr<shared_filter> need_filter(http_call& c) {
  auto found = c.all.filters().open(c.name);
  if (!found) throw unknown_filter(c.all, c.name);
  return found;
}

}  // namespace everseen::serve
