#pragma once

#include <filesystem>
#include <string>

#include "everseen/store/disk.hpp"

namespace everseen {

// A filter whose place another one takes by rename: for a moment it has the name of that one, and is not to
// be taken for it by who finds it there after the renaming process died. A record in its directory, made
// before, says under which name it is no filter any more; under each other name the record means nothing.

/// @throws storage_error
void mark_replaced(disk& on, const std::filesystem::path& filter_directory, const std::string& when_named);

/// What a renaming left that did not come to pass. Before the filter gets another name.    @throws
/// storage_error
void unmark_replaced(disk& on, const std::filesystem::path& filter_directory);

/// Whether a directory holds only what is to be removed.    Cost: an open(2).    @throws storage_error
[[nodiscard]] bool is_replaced(const std::filesystem::path& filter_directory);

}  // namespace everseen
