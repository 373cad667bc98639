#pragma once

#include <filesystem>
#include <string>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

// Marks a filter that a rename replaces. For a moment the replaced filter has the old name of the renamed
// one; if the renaming process crashes then, the replaced filter must not be taken for the renamed one. So a
// record in its directory, written beforehand, says under which name it is no longer a filter. Under any
// other name the record has no meaning.

/// @throws storage_error
void mark_replaced(disk& on, const std::filesystem::path& filter_directory, const std::string& when_named);

/// Removes the mark of a rename that did not happen. Call it before the filter is renamed again.
/// @throws storage_error
void unmark_replaced(disk& on, const std::filesystem::path& filter_directory);

/// Whether the directory is a replaced filter that still has to be removed.
/// @throws storage_error    Cost: an open(2).
[[nodiscard]] bool is_replaced(const std::filesystem::path& filter_directory);

}  // namespace everseen
