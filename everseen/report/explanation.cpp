#include "everseen/report/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/partition/rates.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen {

std::size_t explained_segment::set_bits() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(bits.begin(), bits.end(), [](const explained_bit& b) { return b.set; }));
}

namespace {

std::vector<explained_bit> bits_of(const geometry& shape, const digest& d, std::span<const std::byte> bytes) {
  std::array<std::uint64_t, max_layer_probes> positions{};
  const std::size_t count = bit_positions(shape, d, positions);
  std::vector<explained_bit> bits;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte mask = std::byte{0x80} >> (positions[i] % 8);
    bits.push_back({positions[i], (bytes[positions[i] / 8] & mask) != std::byte{0}});
  }
  return bits;
}

/// The oldest slice that is live for a key of slice `slice`.
window::slice_index oldest_that_counts(const spec& s, const partition_state& state,
                                       window::slice_index slice) {
  const window::slice_index newest =
      state.slices.empty() ? slice : std::max(slice, state.slices.back().index);
  return window::oldest_live(*s.window, newest);
}

std::string share_in_words(double rate) {
  if (rate >= 0.01) return fmt::format("{:.0f} %", 100 * rate);
  constexpr double too_few = 1e-18;
  if (rate < too_few) return "practically none";
  const double unit = std::pow(10.0, std::floor(std::log10(1 / rate)) - 1);  // two digits
  return "one in " +
         format_count(static_cast<std::uint64_t>(std::llround(std::round(1 / rate / unit) * unit)));
}

std::string reason_of(const explanation& e) {
  if (e.answer == verdict::late)
    return "its time is older than the window, so it is neither judged nor added";
  if (e.segments.empty()) return "nothing that is still remembered was added to this partition";
  for (const explained_segment& s : e.segments)
    if (s.holds())
      return fmt::format(
          "all {} bits are set in layer {}; of the keys that were never added, {} have that by "
          "chance",
          s.bits.size(), s.id.layer, share_in_words(s.error_rate));
  return e.segments.size() == 1
             ? "at least one of its bits is not set, which adding it would have done"
             : "every segment lacks at least one of its bits, which adding it would have set";
}

}  // namespace

explanation explain(const filter& f, std::string_view key, std::optional<event_time> time) {
  const spec& s = f.get_spec();
  explanation e;
  e.key_digest = f.hash()(key);
  e.partition = partition_of(e.key_digest, s.partitions);
  if (s.window && time) e.slice = window::slice_at(*s.window, *time);

  // Ask for the verdict first: concurrent adds only turn fresh into seen, so the bits read later include the
  // bits that it was based on.
  const batch_result done =
      f.may_contain({&key, 1}, {&e.answer, 1}, {time ? &*time : nullptr, time ? 1U : 0U});
  if (!done) done.error().raise();

  std::optional<window::slice_index> oldest;
  if (e.slice) oldest = oldest_that_counts(s, f.stored().state(e.partition), *e.slice);
  f.stored().visit_segments(
      e.partition, [&](const segment_id& id, const layer_state& layer, std::span<const std::byte> bytes) {
        if (!oldest || id.slice >= *oldest)
          e.segments.push_back({id, layer, bits_of(layer.shape, e.key_digest, bytes),
                                sizing::error_rate(layer.shape, given_keys_of(layer, bytes))});
      });
  e.reason = reason_of(e);
  const auto older = f.stored().path().asks_first;
  if (older && e.answer == verdict::seen && std::ranges::none_of(e.segments, &explained_segment::holds))
    e.reason = quoted_name(older->name) + ", the older filter that it is linked to, has it";
  return e;
}

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
  nlohmann::ordered_json all = {{"digest", hex(e.key_digest)},
                                {"partition", e.partition},
                                {"verdict", to_string(e.answer)},
                                {"reason", e.reason},
                                {"segments", std::move(segments)}};
  if (e.slice) all["slice"] = *e.slice;
  return all;
}

nlohmann::ordered_json json_of(std::span<const foreign_bits::property> properties) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : properties)
    std::visit([&json, key = name](const auto& each) { json[key] = each; }, value);
  return json;
}

nlohmann::ordered_json json_of(const foreign_bits& bits) {
  auto strings = nlohmann::ordered_json::array();
  for (const foreign_bits::key_bits& each : bits.strings) {
    auto key_bits = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < each.positions.size(); ++i)
      key_bits.push_back({{"position", each.positions[i]}, {"set", bool(each.set[i])}});
    strings.push_back({{"key", each.string}, {"holds_key", each.hold()}, {"key_bits", std::move(key_bits)}});
  }
  return {{"attached", json_of(bits.properties)},
          {"verdict", std::ranges::any_of(bits.strings, &foreign_bits::key_bits::hold) ? "seen" : "fresh"},
          {"strings", std::move(strings)}};
}

}  // namespace everseen
