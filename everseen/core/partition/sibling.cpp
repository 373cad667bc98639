#include "everseen/core/partition/sibling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen {

void must_be_siblings(const spec& one, const spec& other) {
  const auto refuse = [](const std::string& difference) {
    throw parameter_error(
        "the filters cannot be merged: they differ in " + difference +
        ". Siblings are made by everseen create --like, by COPY of an empty filter in Redis, "
        "or from one export");
  };
  if (one.seed != other.seed) refuse("their secret seed");
  if (one.hash != other.hash) refuse("their hash");
  if (one.capacity != other.capacity) refuse("capacity");
  if (one.error_rate != other.error_rate) refuse("error rate");
  if (one.layout != other.layout || one.probes != other.probes) refuse("layout");
  if (one.partitions != other.partitions) refuse("their number of partitions");
  if (one.window != other.window) refuse("window");
  if (one.growth != other.growth) refuse("growth");
  if (one.foreign != other.foreign) refuse("the rules of their system");
}

bool segment_union::fits(std::uint64_t capacity) const noexcept {
  if (keys <= static_cast<double>(capacity)) return true;
  const std::uint64_t counted = is_one_of_them ? least : sum;
  return counted <= capacity && !sizing::is_more_than_chance(keys, counted);
}

std::uint64_t segment_union::count() const noexcept {
  constexpr double most = 0x1p63;
  const std::uint64_t counted = is_one_of_them ? least : sum;
  const auto estimated = static_cast<std::uint64_t>(std::round(std::min(keys + deviation, most)));
  // Bits of more keys than were counted: counts lag after a crash, or are forged.
  if (sizing::is_more_than_chance(keys, counted)) return std::max(least, estimated);
  return std::clamp(estimated, least, counted);
}

segment_union union_of(std::span<const sibling_segment> same) {
  segment_union all;
  std::uint64_t most_set = 0;
  std::vector<std::span<const std::byte>> bits;
  for (const sibling_segment& each : same) {
    all.least = std::max(all.least, each.layer.keys);
    all.sum += std::min(each.layer.keys, std::numeric_limits<std::uint64_t>::max() - all.sum);
    bits.push_back(each.bits);
    most_set = std::max(most_set, count_set_bits(each.bits));
  }
  const geometry& shape = same.front().layer.shape;
  const std::uint64_t set = same.size() == 1 ? most_set : count_set_bits(bits);
  all.is_one_of_them = set == most_set;
  all.keys = sizing::keys_from_set_bits(shape, set);
  all.deviation = sizing::deviation_of_keys(shape, all.keys);
  return all;
}

}  // namespace everseen
