#include "everseen/report/explanation_json.hpp"

#include <fmt/format.h>

#include "everseen/text/json.hpp"

namespace everseen {

namespace {

nlohmann::ordered_json json_of(const explained_segment& s) {
  auto bits = nlohmann::ordered_json::array();
  for (const explained_bit& b : s.bits) bits.push_back({{"position", b.position}, {"set", b.set}});
  return {{"slice", s.id.slice},
          {"layer", s.id.layer},
          {"layout", to_string(s.layer.shape.layout)},
          {"bits", s.layer.shape.bits()},
          {"keys", s.layer.keys},
          {"capacity", s.layer.capacity},
          {"holds_key", s.holds()},
          {"key_bits", std::move(bits)}};
}

}  // namespace

std::string hex(const digest& d) {
  return fmt::format("{:016x}{:016x}", d.high, d.low);
}

nlohmann::ordered_json json_of(const explanation& e) {
  auto segments = nlohmann::ordered_json::array();
  for (const explained_segment& s : e.segments) segments.push_back(json_of(s));
  nlohmann::ordered_json all = {{"digest", hex(e.of)},
                                {"partition", e.partition},
                                {"verdict", to_string(e.answer)},
                                {"reason", e.reason},
                                {"segments", std::move(segments)}};
  if (e.slice) all["slice"] = *e.slice;
  return all;
}

}  // namespace everseen
