#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "everseen/core/error.hpp"

namespace everseen {

/// Which boot of a machine this is; zero: nobody knows.
using boot_id = std::array<std::uint8_t, 16>;

/// The few calls to the operating system on which durability rests.
///
/// A seam: the tests put a disk here that is full, that fails, or that forgets at a power loss what was not
/// synced (test/support/forgetful_disk.hpp). Each function returns 0 or an errno. Threads: any.
class disk {
 public:
  virtual ~disk() = default;

  /// Makes an open, empty file `bytes` long with every byte backed by the disk, so that a later store through
  /// a mapping cannot find the disk full (that would be a SIGBUS, not an error).
  [[nodiscard]] virtual int reserve(int file, std::uint64_t bytes, const std::filesystem::path& path);
  /// Content and length of an open file reach the disk.
  [[nodiscard]] virtual int sync_file(int file, const std::filesystem::path& path);
  /// What was stored through a mapping of a file reaches the disk.
  ///
  /// For the whole mapping: the kernel knows which pages are dirty. On ext4 that costs what fdatasync does,
  /// and half of one call a page (1000 dirty pages of 256 MiB: 73, 73 and 164 ms); it also needs no
  /// descriptor.
  [[nodiscard]] virtual int sync_mapping(std::byte* at, std::size_t bytes, const std::filesystem::path& path);
  /// The names in a directory reach the disk.
  [[nodiscard]] virtual int sync_directory(const std::filesystem::path& path);
  /// Replaces `to`, in one step.
  [[nodiscard]] virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
  /// Lets two directories change their names, in one step. Not every file system can: EINVAL.
  [[nodiscard]] virtual int exchange(const std::filesystem::path& one, const std::filesystem::path& other);
  [[nodiscard]] virtual int unlink(const std::filesystem::path& path);

  /// What was written in this boot is still there, though it may not be on the disk. In another one it is
  /// there if it was synced.
  [[nodiscard]] virtual boot_id boot();

  /// Puts bytes at a place of an open file: all of them, unless it fails.
  [[nodiscard]] virtual int write(int file, std::uint64_t place, std::span<const std::byte> bytes,
                                  const std::filesystem::path& path);

  /// The one that does what it says.
  [[nodiscard]] static disk& real();
};

/// A storage_error that says what was tried, on which path, what the system answered, and what to do about
/// it.
[[nodiscard]] storage_error disk_error(const std::string& tried, const std::filesystem::path& path, int code);

/// Throws it unless the code is 0.
void check_disk(int code, const char* tried, const std::filesystem::path& path);

}  // namespace everseen
