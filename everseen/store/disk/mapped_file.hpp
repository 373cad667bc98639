#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen {

/// A file mapped into memory. Stores reach the page cache immediately, so they survive a crash of the
/// process; sync() writes them to the disk. No descriptor stays open, since a filter may have more segments
/// than a process may have open files.
class mapped_file {
 public:
  /// Creates a file that starts with `head` and is otherwise zero. It is complete on the disk, except for its
  /// name: sync the directory. Leaves no file behind on failure.
  /// @throws storage_error
  static mapped_file create(disk& on, const std::filesystem::path& path, std::span<const std::byte> head,
                            std::uint64_t bytes);

  /// Opens an existing file; nothing if there is none.
  /// @throws storage_error
  static std::optional<mapped_file> open(disk& on, const std::filesystem::path& path, access how);

  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {at_, size_}; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// @throws storage_error  the disk failed
  void sync() const;

 private:
  mapped_file(disk& on, std::filesystem::path path, int file, std::size_t size, access how);

  disk* disk_;
  std::filesystem::path path_;
  std::byte* at_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace everseen
