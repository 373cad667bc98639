#include "everseen/cli/filters/info_json.hpp"

#include <algorithm>

#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/filter/rates.hpp"
#include "everseen/text/json.hpp"

namespace everseen::cli {

namespace {

nlohmann::ordered_json spec_json(const spec& s) {
  nlohmann::ordered_json json = {{"capacity", s.capacity},        {"error_rate", s.error_rate},
                                 {"layout", to_string(s.layout)}, {"probes", s.probes},
                                 {"hash", to_string(s.hash)},     {"growth", to_string(s.growth)},
                                 {"partitions", s.partitions}};
  if (s.window) {
    json["window_ms"] = s.window->width.count();
    json["slices"] = s.window->slices;
  }
  if (is_foreign(s.layout)) {
    if (s.layout == layout_kind::redisbloom)
      json["expansion"] = s.foreign.expansion;
    else
      json["funnel"] = to_string(s.foreign.funnel);
  }
  return json;
}

nlohmann::ordered_json parts_json(const filter_info& info) {
  auto parts = nlohmann::ordered_json::array();
  for (std::uint32_t number = 0; number < info.partitions.size(); ++number) {
    const part p = part_of(info, number);
    parts.push_back({{"partition", number},
                     {"layers", p.layers},
                     {"keys", p.sum.keys},
                     {"fill", p.sum.fill()},
                     {"error_rate_when_full", p.rate_when_full},
                     {"error_rate_now", p.rate_now},
                     {"bytes", p.sum.bytes}});
    if (!info.places[number].empty()) parts.back()["server"] = info.places[number];
  }
  return parts;
}

}  // namespace

void print_info_json(const filter_info& info, const std::string& store, const filter_facts& known,
                     const std::optional<predecessor>& older, const std::vector<std::string>& warnings,
                     printer& out) {
  nlohmann::ordered_json json = {{"name", shown_name(info.name)},
                                 {"store", store},
                                 {"spec", spec_json(info.spec)},
                                 {"keys", info.keys},
                                 {"fill", total_of(info).fill()},
                                 {"bytes", info.bytes},
                                 {"segments", info.segments},
                                 {"layers", info.max_layers},
                                 {"error_rate_now", info.error_rate_now},
                                 {"expected_false_seen", info.expected_false_seen}};
  if (info.spec.window) {
    json["slices"] = nlohmann::ordered_json::array();
    for (const auto& [index, sum] : slices_of(info))
      json["slices"].push_back({{"begins", format_event_time(window::start_of(*info.spec.window, index))},
                                {"keys", sum.keys},
                                {"bytes", sum.bytes},
                                {"segments", sum.segments}});
  }
  if (older) {
    json["linked"] = {{"older", shown_name(older->name)}};
    json["being_rebuilt"] = older->name == info.name;
    if (older->until) json["linked"]["until"] = format_event_time(*older->until);
  }
  if (known.expires_at) json["expires_at"] = format_event_time(*known.expires_at);
  json["parts"] = parts_json(info);
  json["warnings"] = warnings;
  // A server's own text need not be UTF-8.
  out.print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

slices slices_of(const filter_info& info) {
  slices all;
  for (const partition_state& p : info.partitions)
    for (const slice_state& s : p.slices)
      for (const layer_state& layer : s.layers) all[s.index].add(layer);
  return all;
}

slice_sum total_of(const filter_info& info) {
  slice_sum total;
  for (const partition_state& p : info.partitions)
    for (const slice_state& s : p.slices)
      for (const layer_state& layer : s.layers) total.add(layer);
  return total;
}

part part_of(const filter_info& info, std::uint32_t number) {
  part p;
  partition_state state = info.partitions[number];
  p.rate_now = info.partition_rates[number];
  for (slice_state& slice : state.slices) {
    p.layers = std::max(p.layers, slice.layers.size());
    for (layer_state& layer : slice.layers) {
      p.sum.add(layer);
      // The rate when full is that of now, as if each layer had all keys that it has room for.
      layer.keys = std::max(layer.keys, layer.capacity);
    }
  }
  p.rate_when_full = error_rate_now(info.spec, state);
  return p;
}

}  // namespace everseen::cli
