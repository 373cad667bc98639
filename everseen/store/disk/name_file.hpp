#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

// The name of a filter in files, from the name of its directory, or from a file in it if the directory is
// named by a hash: doc/format.md, "Names of files".

/// @return nothing  no filter has a directory of this name, or the file with the name is missing
/// @throws format_error  the file has another content    @throws storage_error
[[nodiscard]] std::optional<std::string> name_of_directory(const std::filesystem::path& filter_directory);

/// The same for messages: what cannot be found out is the name of the directory.
[[nodiscard]] std::string presumed_name(const std::filesystem::path& filter_directory);

/// Writes the file, if the name needs one, before a directory gets the name; syncs the directory then.
/// @throws storage_error
void write_name(disk& on, const std::filesystem::path& filter_directory, std::string_view name);

/// Removes the files of all names but that of the directory.    @param all  also that one
/// @return an errno of reading the directory
int remove_names(const std::filesystem::path& filter_directory, bool all) noexcept;

}  // namespace everseen
