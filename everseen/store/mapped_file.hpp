#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "everseen/store/disk.hpp"
#include "everseen/store/store.hpp"

namespace everseen {

/// A file whose bytes are memory. Stores reach the page cache at once, so they survive the end of the
/// process, however sudden, and the disk at sync(). Keeps no descriptor open: a filter may have more segments
/// than a process may have files.
class mapped_file {
 public:
  /// A new file that begins with `head` and is zero otherwise, complete on the disk (but for its name: sync
  /// the directory). Leaves no file behind when it fails.
  /// @throws storage_error
  static mapped_file create(disk& on, const std::filesystem::path& path, std::span<const std::byte> head,
                            std::uint64_t bytes);

  /// A file that exists, nothing if it does not.
  /// @throws storage_error
  static std::optional<mapped_file> open(disk& on, const std::filesystem::path& path, access how);

  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {at_, size_}; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// @throws storage_error  the disk refused
  void sync() const;

 private:
  mapped_file(disk& on, std::filesystem::path path, int file, std::size_t size, access how);

  disk* disk_;
  std::filesystem::path path_;
  std::byte* at_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace everseen
