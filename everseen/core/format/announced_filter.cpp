#include "everseen/core/format/announced_filter.hpp"

#include "everseen/core/base/error.hpp"

namespace everseen {

std::vector<announced_filter::segment> segments_of(std::uint32_t partition,
                                                   const std::vector<slice_state>& slices) {
  std::vector<announced_filter::segment> all;
  for (const slice_state& slice : slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer)
      all.push_back({{partition, slice.index, layer}, slice.layers[layer]});
  return all;
}

partition_state state_of(const announced_filter& f) {
  partition_state state;
  for (const auto& [id, layer] : f.segments) {
    if (id.partition != f.partition) throw format_error("its header has a segment of another partition");
    if (state.slices.empty() || state.slices.back().index != id.slice) state.slices.push_back({id.slice, {}});
    std::vector<layer_state>& layers = state.slices.back().layers;
    if (id.layer != layers.size()) throw format_error("its header has a layer too few or too many");
    layers.push_back(layer);
  }
  return state;
}

}  // namespace everseen
