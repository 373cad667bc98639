#pragma once

#include <filesystem>
#include <optional>

#include "everseen/core/spec.hpp"
#include "everseen/store/disk.hpp"

namespace everseen {

// When a filter of files ends: a record in its directory, which only its writer changes.

/// @return nothing: never, or there is no such directory    @throws format_error, storage_error
/// Cost: an open(2), and a read(2) where there is an end.
[[nodiscard]] std::optional<event_time> end_in(const std::filesystem::path& filter_directory);

/// @param when  nothing: never    @throws storage_error
void write_end(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when);

}  // namespace everseen
