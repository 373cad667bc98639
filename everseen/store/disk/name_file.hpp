#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

// The name of a filter in files: from the name of its directory or, if that is a hash, from a file in it:
// doc/format.md, "Names of files".

/// @return nothing if no filter has a directory of this name, or if the file with the name is missing
/// @throws format_error  the file has another content    @throws storage_error
[[nodiscard]] std::optional<std::string> name_of_directory(const std::filesystem::path& filter_directory);

/// The same for lists and messages; the name of the directory if the name cannot be determined.
[[nodiscard]] std::string presumed_name(const std::filesystem::path& filter_directory);

/// Whether a filter may have a directory of this name.
[[nodiscard]] bool may_be_filter(const std::filesystem::path& directory);

/// The directory of a filter of a store. A filter whose file with the name is missing or damaged is found by
/// the name of its directory, too, unless another filter has that name.
/// @throws parameter_error  no filter can have this name    @throws storage_error
[[nodiscard]] std::filesystem::path find_directory(const std::filesystem::path& store, std::string_view name);

/// @return whether find_directory() found the filter by the name of its directory
[[nodiscard]] bool is_name_lost(const std::filesystem::path& filter_directory, std::string_view name);

/// Writes the file and syncs the directory, if the name needs a file. Call it before a directory gets the
/// name.
/// @throws storage_error
void write_name(disk& on, const std::filesystem::path& filter_directory, std::string_view name);

/// Removes the name files of all names except that of the directory.    @param all  including that one
/// @return an errno of reading the directory
int remove_names(const std::filesystem::path& filter_directory, bool all) noexcept;

}  // namespace everseen
