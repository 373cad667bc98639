/// Why a filter gives a key its verdict, bit by bit: the output of `everseen explain`.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "everseen/core/partition/partition.hpp"
#include "everseen/filter/filter.hpp"

namespace everseen {

struct explained_bit {
  std::uint64_t position = 0;  ///< in Redis's numbering
  bool set = false;
};

/// The key's bits in one live segment.
struct explained_segment {
  segment_id id;
  layer_state layer;
  std::vector<explained_bit> bits;
  double error_rate = 0;  ///< the share of other keys that find all theirs set here

  [[nodiscard]] std::size_t set_bits() const noexcept;
  /// Whether all of the key's bits are set here.
  [[nodiscard]] bool holds() const noexcept { return set_bits() == bits.size(); }
};

struct explanation {
  digest key_digest;
  std::uint32_t partition = 0;
  std::optional<window::slice_index> slice;  ///< of the key's time, if there is a window
  verdict answer = verdict::unknown;         ///< the filter's own verdict
  std::string reason;                        ///< one sentence
  std::vector<explained_segment> segments;   ///< the live ones, oldest first
};

/// @throws as filter::may_contain    Cost: reads a few bits of one partition.
[[nodiscard]] explanation explain(const filter& f, std::string_view key, std::optional<event_time> time);

/// 128 bits in hexadecimal.
[[nodiscard]] std::string hex(const digest& d);

/// An explanation for programs.
[[nodiscard]] nlohmann::ordered_json json_of(const explanation& e);
/// The same about a filter that another program keeps.
[[nodiscard]] nlohmann::ordered_json json_of(const foreign_bits& bits);
[[nodiscard]] nlohmann::ordered_json json_of(std::span<const foreign_bits::property> properties);

}  // namespace everseen
