#pragma once

#include <filesystem>
#include <optional>

#include "everseen/core/spec/spec.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

// The expiry time of a filter in files: a record in its directory, which only its writer changes. Every
// filter has one, so a missing record is damage.

/// @return nothing: never, or there is no such filter    @throws format_error, storage_error
/// Cost: an open(2) and a read(2).
[[nodiscard]] std::optional<event_time> read_expiry(const std::filesystem::path& filter_directory);

/// Whether it expired by this time. A filter with a damaged record has not expired; opening it reports the
/// damage.
/// @throws storage_error
[[nodiscard]] bool has_expired(const std::filesystem::path& filter_directory, event_time now);

/// @param when  nothing: never. The caller syncs the directory.    @throws storage_error
void write_expiry(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when);

}  // namespace everseen
