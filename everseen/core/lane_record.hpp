#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace everseen {

/// What a partition remembers of one lane of a job: how far it has judged, and which of the events that are
/// not settled yet were fresh.
///
/// An event that comes again gets its first verdict from here. Positions within a lane ascend, so one number
/// says of all others whether they were judged. Cost: 8 bytes for each fresh event between two settlements.
class lane_record {
 public:
  /// Of a lane that was never judged.
  lane_record() = default;

  /// From the bytes of doc/format.md, "Jobs"; none: nothing was judged.
  /// @throws format_error  they are none that encode() makes
  [[nodiscard]] static lane_record decode(std::string_view bytes);
  [[nodiscard]] std::string encode() const;

  /// The first bytes, which no other record of the lane has; empty where nothing was judged.
  [[nodiscard]] std::string head() const;

  /// Whether the event at this position was judged, and needs no other verdict.
  [[nodiscard]] bool has_judged(std::uint64_t position) const noexcept { return begun_ && position <= last_; }
  /// Whether it was fresh.    @pre has_judged(position), and the position is not settled
  [[nodiscard]] bool was_fresh(std::uint64_t position) const noexcept;

  /// How many of the fresh ones lie before `settled`: those that forget() would forget.
  [[nodiscard]] std::size_t settled_before(std::uint64_t settled) const noexcept;
  /// Forgets which events before `settled` were fresh.
  void forget(std::uint64_t settled);
  /// Takes note that an event was judged.    @pre it comes after all that were
  void note(std::uint64_t position, bool fresh);

  /// The last event that was judged; nothing: none was.
  [[nodiscard]] std::optional<std::uint64_t> last() const noexcept {
    return begun_ ? std::optional(last_) : std::nullopt;
  }
  /// Those that were fresh and are not forgotten, ascending.
  [[nodiscard]] const std::vector<std::uint64_t>& fresh() const noexcept { return fresh_; }

  friend bool operator==(const lane_record&, const lane_record&) = default;

 private:
  bool begun_ = false;
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> fresh_{};  // ascending
};

/// A position as it is stored: 8 bytes, big-endian, so that bytes sort as numbers do.
void append_position(std::string& to, std::uint64_t position);
/// @pre bytes.size() >= 8
[[nodiscard]] std::uint64_t position_in(std::string_view bytes) noexcept;
inline constexpr std::size_t position_bytes = 8;

}  // namespace everseen
