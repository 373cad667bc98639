#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/partition/rates.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/time_source.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

// What `everseen info` shows of a filter's segments.

/// The sums of time slices over all partitions.
using slices = std::map<window::slice_index, layer_sum>;

slices slices_of(const filter_info& info) {
  slices all;
  for (const partition_state& p : info.partitions)
    for (const slice_state& s : p.slices)
      for (const layer_state& layer : s.layers) all[s.index].add(layer);
  return all;
}

layer_sum total_of(const filter_info& info) {
  layer_sum total;
  for (const partition_state& p : info.partitions) total.add(p);
  return total;
}

/// One partition over all its slices.
struct part {
  layer_sum sum;
  std::size_t layers = 0;     // in the slice with the most growth
  double rate_when_full = 0;  // once all existing segments hold as many keys as they were created for
  double rate_now = 0;
};

/// @pre number < info.partitions.size()
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

/// Prints what `everseen info --json` shows.
/// @param store  its URL, as shown to people
/// @param older  the filter that is asked first, if there is one
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

struct info_arguments {
  std::string name;
  store_choice store;
  bool json = false;
};

void print_parts(const filter_info& info, printer& out) {
  out.print("\n{:>9}{:>8}{:>16}{:>8}{:>14}{:>14}{:>14}  {}\n", "partition", "layers", "keys", "fill",
            "rate if full", "rate now", "memory", "server");
  for (std::uint32_t number = 0; number < info.partitions.size(); ++number) {
    const part p = part_of(info, number);
    out.print("{:>9}{:>8}{:>16}{:>7.1f}%{:>14}{:>14}{:>14}  {}\n", number, p.layers, format_count(p.sum.keys),
              100 * p.sum.fill(), format_rate(p.rate_when_full), format_rate(p.rate_now),
              format_bytes(static_cast<double>(p.sum.bytes)), info.places[number]);
  }
}

/// If everything is on this machine, the sums above the table suffice.
bool is_elsewhere(const filter_info& info) {
  return std::ranges::any_of(info.places, [](const std::string& place) { return !place.empty(); });
}

std::string_view in_words(growth_kind growth) {
  switch (growth) {
    case growth_kind::grow:
      return "grows, and keeps its error rate";
    case growth_kind::refuse:
      return "refuses further keys";
    case growth_kind::overfill:
      return "accepts more, with more errors";
  }
  return "";
}

/// The rules of its own system by which a filter continues.
std::string in_words(const foreign_rules& rules, layout_kind layout) {
  if (layout != layout_kind::redisbloom) return fmt::format("funnel        {}", to_string(rules.funnel));
  return fmt::format("expansion     {} times the keys in each further layer", rules.expansion);
}

/// How many new keys were called seen by mistake.
/// @param more  the filter is too full to tell how many more
std::string wrong_in_words(double keys, bool more) {
  if (keys < 0.001) return "no new key called seen, most probably";
  if (keys < 1)
    return fmt::format("probably no new key called seen ({:.1g} to be expected, by the fill)", keys);
  const auto whole = static_cast<std::uint64_t>(std::llround(keys));
  return fmt::format("{} {} new {} called seen, by the fill", more ? "at least" : "about",
                     format_count(whole), whole == 1 ? "key" : "keys");
}

/// Where so few keys are still fresh, their number hardly depends on that of the others.
constexpr double too_full_to_tell = 0.9;

std::string fill_in_words(double fill) {
  if (fill >= 2) return fmt::format("{:.3g} times as many keys as there is room for", fill);
  return fmt::format("{:.1f} % of the room for keys", 100 * fill);
}

void print_slices(const filter_info& info, printer& out) {
  out.print("\n{:<26}{:>16}{:>14}{:>8}\n", "slice from", "keys", "memory", "fill");
  for (const auto& [index, sum] : slices_of(info)) {
    const event_time begin = window::start_of(*info.spec.window, index);
    out.print("{:<26}{:>16}{:>14}{:>7.1f}%{}\n", format_event_time(begin), format_count(sum.keys),
              format_bytes(static_cast<double>(sum.bytes)), 100 * sum.fill(),
              begin > wall_clock() ? "  in the future" : "");
  }
}

void print_text(const filter_info& info, const std::string& store, const filter_facts& known,
                const std::optional<predecessor>& older, printer& out) {
  const spec& s = info.spec;
  out.print("name          {}\n", shown_name(info.name));
  out.print("store         {}\n", store);
  if (older && older->name == info.name)
    out.print("rebuild       in progress, or abandoned: asks its previous generation first\n");
  else if (older)
    out.print("linked        asks {} first{}\n", shown_name(older->name),
              older->until ? ", until " + format_event_time(*older->until) : "");
  const bool countless = info.keys >= countless_keys;
  if (countless)
    out.print("keys          too many to estimate: all bits are set\n");
  else
    out.print("keys          {}{}\n", format_count(info.keys), s.window ? " remembered" : "");
  out.print("capacity      {}{}, then {}\n", format_count(s.capacity), s.window ? " within the window" : "",
            in_words(s.growth));
  if (!countless) out.print("fill          {}\n", fill_in_words(total_of(info).fill()));
  out.print("error rate    {} {}, {} now\n", format_rate(s.error_rate),
            is_foreign(s.layout) ? "by the formula" : "promised", format_rate(info.error_rate_now));
  if (!countless)
    out.print("wrong so far  {}\n",
              wrong_in_words(info.expected_false_seen, info.error_rate_now > too_full_to_tell));
  out.print("memory        {}, {}\n", format_bytes(static_cast<double>(info.bytes)),
            info.segments == 0 ? "until the first key is added"
                               : fmt::format("{:.3g} bits for each key there is room for",
                                             8.0 * static_cast<double>(info.bytes) /
                                                 static_cast<double>(total_of(info).room)));
  out.print("segments      {}, layers at most {}\n", format_count(info.segments), info.max_layers);
  if (s.window)
    out.print("window        {} in {} slices of {}\n", format_duration(s.window->width), s.window->slices,
              format_duration(s.window->slice_width()));
  out.print("partitions    {}\n", s.partitions);
  out.print("layout        {}, {} probes a key\n", to_string(s.layout), s.probes);
  out.print("hash          {}, {}\n", to_string(s.hash),
            has_secret_seed(s.hash) ? "with a secret seed" : "which has no secret");
  if (is_foreign(s.layout)) out.print("{}\n", in_words(s.foreign, s.layout));
  if (known.expires_at) out.print("expires       {}\n", format_event_time(*known.expires_at));
  if (s.window && info.segments > 0) print_slices(info, out);
  if (is_elsewhere(info)) print_parts(info, out);
}

exit_code run_info(const info_arguments& o, printer& out) {
  const auto place = chosen_store(o.store);
  const std::string store_name = shown_store(o.store);
  const filter asked = open(*place, o.name, access::read);
  if (foreign::as_attached(asked.stored()) != nullptr) {
    if (o.json) {
      print_attached_json(asked, store_name, place->warnings(store::concern::keys), out);
    } else {
      print_attached_info(asked, store_name, out);
      warn_of(*place);
    }
    return exit_code::done;
  }
  const filter_info info = asked.info();
  const filter_facts known = place->facts(o.name);
  const auto older = asked.stored().path().asks_first;
  const bool has_jobs = place->traits().offers_jobs && !place->jobs(o.name).empty();
  auto warnings = place->warnings(has_jobs ? store::concern::jobs : store::concern::keys);
  if (auto future = future_warning(info)) warnings.insert(warnings.begin(), *std::move(future));
  if (o.json) {
    print_info_json(info, store_name, known, older, warnings, out);
  } else {
    print_text(info, store_name, known, older, out);
    out.flush();
    print_warnings(warnings);
  }
  return exit_code::done;
}

}  // namespace

verb info_verb() {
  constexpr std::string_view scene = "everseen create clicks; everseen add clicks alice";
  return {
      "info",
      "Show what a filter holds and how full it is",
      "For a filter on Redis, also shows each partition and its server, and warns on standard error about "
      "settings that could make the servers forget or refuse keys: eviction, a read-only replica, no "
      "persistence.\n\nFor a filter that another program keeps (everseen attach), keys and error rate are "
      "estimated from the set bits, which the server counts.",
      {{"For people", "everseen info clicks", scene}, {"For programs", "everseen info clicks --json", scene}},
      [](option_set& known) -> action {
        auto o = std::make_shared<info_arguments>();
        add_name(known, o->name, {"NAME", "the filter"});
        add_json(known, o->json);
        add_store_options(known, o->store);
        return [o](printer& out) { return run_info(*o, out); };
      }};
}

}  // namespace everseen::cli
