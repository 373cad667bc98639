#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/filter/filter.hpp"

/// Why a filter gives a key its verdict, bit by bit: what `everseen explain` shows.
namespace everseen {

struct explained_bit {
  std::uint64_t position = 0;  ///< as Redis numbers them
  bool set = false;
};

/// How one live segment sees the key.
struct explained_segment {
  segment_id id;
  layer_state layer;
  std::vector<explained_bit> bits;

  [[nodiscard]] std::size_t set_bits() const noexcept;
  /// All of the key's bits are set here.
  [[nodiscard]] bool holds() const noexcept { return set_bits() == bits.size(); }
};

struct explanation {
  digest of;
  std::uint32_t partition = 0;
  std::optional<window::slice_index> slice;  ///< of the key's time, with a window
  verdict answer = verdict::unknown;         ///< as the filter itself gives it
  std::string reason;                        ///< one sentence
  std::vector<explained_segment> segments;   ///< the live ones, oldest first
};

/// @throws as filter::may_contain    Cost: reads a few bits of one partition.
[[nodiscard]] explanation explain(const filter& f, std::string_view key, std::optional<event_time> time);

}  // namespace everseen
