#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

// Small files that are read and replaced as a whole.

/// @param most  maximum size of such a file
/// @throws format_error  it is longer    @throws storage_error
[[nodiscard]] std::vector<std::byte> read_whole(const descriptor& file, const std::filesystem::path& path,
                                                std::uint64_t most);

/// Writes all bytes at the current position of the file.    @throws storage_error
void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// Writes the file as `path`.new, syncs it, and renames it into place. Afterwards either the old or the new
/// file is in place; a directory sync then makes the new one permanent.
/// @throws storage_error  the old file is still in place
void replace_whole(disk& on, const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace everseen
