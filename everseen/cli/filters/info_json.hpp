#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// Prints what `everseen info --json` shows.
/// @param store  its URL, as shown to people
/// @param older  the filter that is asked first, if there is one
void print_info_json(const filter_info& info, const std::string& store, const filter_facts& known,
                     const std::optional<predecessor>& older, const std::vector<std::string>& warnings,
                     printer& out);

/// What `everseen info` shows of a filter's segments.

/// A sum over segments.
struct slice_sum {
  std::uint64_t keys = 0;
  std::uint64_t room = 0;
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;

  void add(const layer_state& layer) noexcept {
    keys += layer.keys;
    room += layer.capacity;
    bytes += layer.shape.bytes;
    ++segments;
  }
  [[nodiscard]] double fill() const noexcept {
    return room == 0 ? 0 : static_cast<double>(keys) / static_cast<double>(room);
  }
};

/// The sums of time slices over all partitions.
using slices = std::map<window::slice_index, slice_sum>;

[[nodiscard]] slices slices_of(const filter_info& info);
[[nodiscard]] slice_sum total_of(const filter_info& info);

/// One partition over all its slices.
struct part {
  slice_sum sum;
  std::size_t layers = 0;     // in the slice with the most growth
  double rate_when_full = 0;  // once all existing segments hold as many keys as they were created for
  double rate_now = 0;
};

/// @pre number < info.partitions.size()
[[nodiscard]] part part_of(const filter_info& info, std::uint32_t number);

}  // namespace everseen::cli
