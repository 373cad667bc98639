#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace everseen {

/// A partition's record of one lane of a job: the last position judged, and which of the unsettled events
/// were fresh.
///
/// A replayed event gets its first verdict from this record. Positions within a lane ascend, so one number
/// separates judged from new events. Cost: 8 bytes per fresh event between two settlements.
class lane_record {
 public:
  /// The record of a lane without judged events.
  lane_record() = default;

  /// Decodes the bytes of doc/format.md, "Jobs"; empty bytes: nothing was judged.
  /// @throws format_error  encode() cannot produce these bytes
  [[nodiscard]] static lane_record decode(std::string_view bytes);
  [[nodiscard]] std::string encode() const;

  /// The first bytes, which are unique among the records of the lane; empty if nothing was judged.
  [[nodiscard]] std::string head() const;

  /// Whether the event at this position was judged and keeps its verdict.
  [[nodiscard]] bool has_judged(std::uint64_t position) const noexcept { return begun_ && position <= last_; }
  /// Whether the event was fresh.    @pre has_judged(position), and the position is not settled
  [[nodiscard]] bool was_fresh(std::uint64_t position) const noexcept;

  /// The number of fresh events before `settled`, which forget() would remove.
  [[nodiscard]] std::size_t settled_before(std::uint64_t settled) const noexcept;
  /// Forgets which events before `settled` were fresh.
  void forget(std::uint64_t settled);
  /// Records that an event was judged.    @pre its position is after all judged ones
  void note(std::uint64_t position, bool fresh);

  /// The last event judged; nothing if there is none.
  [[nodiscard]] std::optional<std::uint64_t> last() const noexcept {
    return begun_ ? std::optional(last_) : std::nullopt;
  }
  /// Fresh events that were not forgotten, ascending.
  [[nodiscard]] const std::vector<std::uint64_t>& fresh() const noexcept { return fresh_; }

  friend bool operator==(const lane_record&, const lane_record&) = default;

 private:
  bool begun_ = false;
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> fresh_{};  // ascending
};

/// A position as stored: 8 bytes, big-endian, so that bytes sort like numbers.
void append_position(std::string& out, std::uint64_t position);
/// @pre bytes.size() >= 8
[[nodiscard]] std::uint64_t position_in(std::string_view bytes) noexcept;
inline constexpr std::size_t position_bytes = 8;

}  // namespace everseen
