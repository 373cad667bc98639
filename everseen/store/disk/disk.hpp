#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "everseen/core/base/error.hpp"

namespace everseen {

/// When the writes of a file store reach the disk: doc/files.md, "Durability".
enum class sync_policy : std::uint8_t {
  always,    ///< before a batch is acknowledged; a power loss loses nothing
  interval,  ///< about once a second; a power loss loses the last second, or more if a sync is slow
  never,     ///< when the kernel decides, about 30 seconds; a mere process crash loses nothing
};

/// Identifies a boot of a machine; zero: unknown.
using boot_id = std::array<std::uint8_t, 16>;

/// The few system calls on which durability depends.
///
/// A seam for tests, which substitute a disk that is full, fails, or loses unsynced data at a power loss
/// (test/support/model/forgetful_disk.hpp). Each function returns 0 or an errno. Threads: any.
class disk {
 public:
  virtual ~disk() = default;

  /// Extends an open, empty file to `bytes` and allocates all its blocks. Later stores through a mapping then
  /// cannot hit a full disk, which would be a SIGBUS, not an error.
  [[nodiscard]] virtual int reserve(int file, std::uint64_t bytes, const std::filesystem::path& path);
  /// Syncs content and length of an open file.
  [[nodiscard]] virtual int sync_file(int file, const std::filesystem::path& path);
  /// Syncs everything stored through a mapping of a file.
  ///
  /// Syncs the whole mapping: the kernel knows which pages are dirty. On ext4 this costs as much as
  /// fdatasync, and half as much as one call per page (1000 dirty pages of 256 MiB: 73, 73 and 164 ms). It
  /// also needs no descriptor.
  [[nodiscard]] virtual int sync_mapping(std::byte* memory, std::size_t bytes,
                                         const std::filesystem::path& path);
  /// Syncs the names in a directory.
  [[nodiscard]] virtual int sync_directory(const std::filesystem::path& path);
  /// Replaces `target` atomically.
  [[nodiscard]] virtual int rename(const std::filesystem::path& from, const std::filesystem::path& target);
  /// Exchanges the names of two directories atomically. Some file systems cannot: EINVAL.
  [[nodiscard]] virtual int exchange(const std::filesystem::path& one, const std::filesystem::path& other);
  [[nodiscard]] virtual int unlink(const std::filesystem::path& path);

  /// The current boot. Data written in this boot is still readable, even if it is not on the disk. Data of an
  /// earlier boot exists only if it was synced.
  [[nodiscard]] virtual boot_id boot();

  /// Writes all bytes at an offset of an open file, unless it fails.
  [[nodiscard]] virtual int write(int file, std::uint64_t place, std::span<const std::byte> bytes,
                                  const std::filesystem::path& path);

  /// The real disk.
  [[nodiscard]] static disk& real();
};

/// A storage_error that names the operation, the path, the system's error, and a remedy.
[[nodiscard]] storage_error disk_error(const std::string& tried, const std::filesystem::path& path, int code);

/// Throws disk_error unless the code is 0.
void check_disk(int code, const char* tried, const std::filesystem::path& path);

/// Creates a directory and its parents. Each level is synced before the next is created.
/// @param path  absolute
/// @throws storage_error
void make_directories(disk& on, const std::filesystem::path& path);

/// An open file, closed at the end of the scope.
class descriptor {
 public:
  descriptor() noexcept = default;
  /// @param number  the result of open(2); -1 means no file
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  int number_ = -1;
};

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

/// A format_error about a file of a filter, with the same advice for all files.
[[nodiscard]] inline format_error damaged(const std::filesystem::path& path, const std::string& problem) {
  return format_error(path.string() + " " + problem + "; restore the filter from an export or drop it");
}

/// Runs a decoder and adds the file name to its exceptions.
template <typename Decode>
auto at_path(const std::filesystem::path& path, Decode decode) {
  try {
    return decode();
  } catch (const format_error& e) {
    throw format_error(path.string() + ": " + e.what());
  } catch (const parameter_error& e) {
    throw damaged(path, std::string("makes no sense: ") + e.what());
  }
}

}  // namespace everseen
