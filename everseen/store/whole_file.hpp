#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "everseen/store/descriptor.hpp"
#include "everseen/store/disk.hpp"

namespace everseen {

// Small files that are read and replaced as a whole.

/// @param most  bytes that such a file can have
/// @throws format_error  it is longer    @throws storage_error
[[nodiscard]] std::vector<std::byte> read_whole(const descriptor& file, const std::filesystem::path& path,
                                                std::uint64_t most);

/// All of the bytes, where the file is at now.    @throws storage_error
void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// Writes the file beside, as `path`.new, synced, and renames it into place. What is there afterwards is the
/// old one or the new one; for certain the new one once the directory is synced, too.
/// @throws storage_error  the old one is still there
void replace_whole(disk& on, const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace everseen
