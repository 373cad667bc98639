#include "everseen/cli/filters/info_sums.hpp"

#include <algorithm>

#include "everseen/filter/rates.hpp"

namespace everseen::cli {

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
      layer.keys = std::max(layer.keys, layer.capacity);
    }
  }
  p.rate_when_full = error_rate_now(info.spec, state);
  return p;
}

}  // namespace everseen::cli
