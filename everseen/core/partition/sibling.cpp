#include "everseen/core/partition/sibling.hpp"

#include <algorithm>
#include <cmath>
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

/// Keys of several must not count twice: a filter that is merged with a copy of itself has not grown.
std::uint64_t keys_of_union(std::span<const sibling_segment> same) {
  std::uint64_t least = 0, sum = 0;
  std::vector<std::span<const std::byte>> bits;
  for (const sibling_segment& each : same) {
    least = std::max(least, each.layer.keys);
    sum += each.layer.keys;
    bits.push_back(each.bits);
  }
  if (least == sum) return sum;
  const double keys = std::round(sizing::keys_from_set_bits(same.front().layer.shape, count_set_bits(bits)));
  return keys < static_cast<double>(sum) ? std::max(least, static_cast<std::uint64_t>(keys)) : sum;
}

}  // namespace everseen
