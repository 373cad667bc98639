#pragma once

#include <filesystem>
#include <optional>

#include "everseen/core/spec.hpp"
#include "everseen/store/disk.hpp"

namespace everseen {

// When a filter of files ends: a record in its directory, which only its writer changes. Every filter has
// one, so that one that is missing is damage.

/// @return nothing: never, or there is no such filter    @throws format_error, storage_error
/// Cost: an open(2) and a read(2).
[[nodiscard]] std::optional<event_time> end_in(const std::filesystem::path& filter_directory);

/// @param when  nothing: never; the directory is for the caller to sync    @throws storage_error
void write_end(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when);

}  // namespace everseen
