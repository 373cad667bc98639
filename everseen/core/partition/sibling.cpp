#include "everseen/core/partition/sibling.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen {

void must_be_siblings(const spec& one, const spec& other) {
  const auto refuse = [](const std::string& difference) {
    throw parameter_error("the filters cannot be merged: they differ in " + difference +
                          ". Filters that are to be merged are made by everseen create --like, or from one "
                          "export");
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

/// Keys of both must not count twice: a filter that is merged with a copy of itself has not grown.
std::uint64_t keys_of_union(const layer_state& mine, const std::byte* bits, const sibling_segment& other) {
  const std::uint64_t least = std::max(mine.keys, other.layer.keys), sum = mine.keys + other.layer.keys;
  if (least == sum) return sum;
  const std::span<const std::byte> my_bits(bits, static_cast<std::size_t>(mine.shape.bytes));
  const double keys = std::round(sizing::keys_from_set_bits(mine.shape, count_set_bits(my_bits, other.bits)));
  return keys < static_cast<double>(sum) ? std::max(least, static_cast<std::uint64_t>(keys)) : sum;
}

}  // namespace everseen
