#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/port/ledger.hpp"

/// The checkpoints of a job other than those of its lanes.
///
/// A source names its lanes, with a slash or a colon in each name. The names here begin with other
/// characters.
namespace everseen::job_marks {

using checkpoints = std::map<std::string, checkpoint, std::less<>>;

/// Of all settlements: the position is the time of the last one, in milliseconds since 1970.
inline constexpr std::string_view last_settled = "@settled";

/// Of a sink. The note is the sink's own. The position is the number of sinks that the job had before it, so
/// the current sink has the highest.
/// @param worker  its owner; empty if all workers of the job share it
[[nodiscard]] std::string sink(std::string_view worker, std::string_view target);

struct sink_mark {
  std::string target;
  std::uint64_t order = 0;
};
/// The current sink of this worker.
[[nodiscard]] std::optional<sink_mark> last_sink(const checkpoints& known, std::string_view worker);

[[nodiscard]] bool is_of_a_sink(std::string_view name) noexcept;
[[nodiscard]] bool is_of_a_lane(std::string_view name) noexcept;

}  // namespace everseen::job_marks
