#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/ledger.hpp"

/// What a job puts down among its checkpoints beside those of its lanes.
///
/// A lane is named by its source, with a slash or a colon in it; these begin with characters of their own.
namespace everseen::job_marks {

using checkpoints = std::map<std::string, checkpoint, std::less<>>;

/// Of all settlements: its position is the time of the last one, in milliseconds since 1970.
inline constexpr std::string_view last_settled = "@settled";

/// Of a sink. Its note is the sink's own; its position is how many others the job had before it, so that the
/// furthest is the one that it puts out to.
/// @param worker  whose it is; empty where all workers of the job share it
[[nodiscard]] std::string sink(std::string_view worker, std::string_view target);

struct sink_mark {
  std::string target;
  std::uint64_t order = 0;
};
/// The sink that this worker was given last.
[[nodiscard]] std::optional<sink_mark> last_sink(const checkpoints& known, std::string_view worker);

[[nodiscard]] bool is_of_a_sink(std::string_view name) noexcept;
[[nodiscard]] bool is_of_a_lane(std::string_view name) noexcept;

}  // namespace everseen::job_marks
