#include "everseen/core/partition/partition_state.hpp"

namespace everseen {

std::uint64_t partition_state::keys() const noexcept {
  std::uint64_t sum = 0;
  for (const slice_state& slice : slices)
    for (const layer_state& layer : slice.layers) sum += layer.keys;
  return sum;
}

std::uint64_t partition_state::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const slice_state& slice : slices)
    for (const layer_state& layer : slice.layers) sum += layer.shape.bytes;
  return sum;
}

}  // namespace everseen
