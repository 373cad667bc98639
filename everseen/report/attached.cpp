#include "everseen/report/attached.hpp"

#include <algorithm>

#include "everseen/text/json.hpp"

namespace everseen {

namespace {

using redis::attachment;

std::string_view to_string(attachment::form shape) noexcept {
  switch (shape) {
    case attachment::form::single:
      return "one string";
    case attachment::form::growing:
      return "growing";
    case attachment::form::sharded:
      return "sharded";
  }
  return "";
}

nlohmann::ordered_json json_of(const redis::attached_filter::key_bits& bits) {
  auto key_bits = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < bits.positions.size(); ++i)
    key_bits.push_back({{"position", bits.positions[i]}, {"set", bool(bits.set[i])}});
  return {{"key", bits.string}, {"holds_key", holds(bits)}, {"key_bits", std::move(key_bits)}};
}

}  // namespace

const redis::attached_filter* attached_behind(const filter& f) noexcept {
  return dynamic_cast<const redis::attached_filter*>(&f.stored());
}

nlohmann::ordered_json json_of(const attachment& a) {
  nlohmann::ordered_json json = {{"family", compat::facts(a.hashing.which).name},
                                 {"key", a.key},
                                 {"bits", a.hashing.bits},
                                 {"probes", a.hashing.probes},
                                 {"form", to_string(a.shape)}};
  if (a.funnel != funnel_kind::bytes) json["funnel"] = to_string(a.funnel);
  if (!a.cursor.empty()) json["cursor"] = a.cursor;
  if (a.instances > 0) json["instances"] = a.instances;
  return json;
}

bool holds(const redis::attached_filter::key_bits& bits) {
  return std::ranges::find(bits.set, false) == bits.set.end();
}

nlohmann::ordered_json explanation_json(const redis::attached_filter& a, std::string_view key) {
  const auto all = a.bits_of(key);
  auto strings = nlohmann::ordered_json::array();
  for (const auto& bits : all) strings.push_back(json_of(bits));
  return {{"attached", json_of(a.what())},
          {"verdict", std::ranges::any_of(all, holds) ? "seen" : "fresh"},
          {"strings", std::move(strings)}};
}

}  // namespace everseen
