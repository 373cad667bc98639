#pragma once

#include <filesystem>
#include <optional>

#include "everseen/store/descriptor.hpp"

namespace everseen {

/// Exclusive use of something among all processes of this machine: flock(2) on a file.
///
/// The kernel releases it when the process ends, however it ends. Two objects exclude each other even within
/// one process.
class lock_file {
 public:
  /// Takes the lock at once or not at all. Makes the file if need be, but not its directory.
  /// @return nothing when another has it
  /// @throws storage_error  the file cannot be made or opened
  static std::optional<lock_file> try_take(const std::filesystem::path& path);

  /// The same without making the file: for directories that may be somebody else's.
  /// @return nothing when another has it, or there is no such file
  /// @throws storage_error  it cannot be opened
  static std::optional<lock_file> try_take_existing(const std::filesystem::path& path);

  /// Waits for it: only for locks that are held for moments.
  /// @throws storage_error
  static lock_file take(const std::filesystem::path& path);

 private:
  explicit lock_file(descriptor file) noexcept : file_(std::move(file)) {}
  static std::optional<lock_file> lock(const std::filesystem::path& path, int operation, int more_flags);

  descriptor file_;
};

}  // namespace everseen
