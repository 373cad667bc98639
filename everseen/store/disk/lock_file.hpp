#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// Mutual exclusion among all processes of this machine: flock(2) on a file.
///
/// The kernel releases the lock when the process ends, even by a crash. Two objects exclude each other even
/// within one process.
class lock_file {
 public:
  /// Takes the lock without waiting. Creates the file if necessary, but not its directory.
  /// @return nothing if the lock is held
  /// @throws storage_error  the file cannot be created or opened
  static std::optional<lock_file> try_take(const std::filesystem::path& path);

  /// The same without creating the file: for directories that may belong to someone else.
  /// @return nothing if the lock is held, or there is no such file
  /// @throws storage_error  it cannot be opened
  static std::optional<lock_file> try_take_existing(const std::filesystem::path& path);

  /// Waits for the lock: only for locks that are held briefly.
  /// @throws storage_error
  static lock_file take(const std::filesystem::path& path);

  /// The process that holds the lock of a file, for a message: "process 4321 (everseen)". "another process"
  /// if the system does not show which.
  [[nodiscard]] static std::string holder_of(const std::filesystem::path& path);

 private:
  explicit lock_file(descriptor file) noexcept : file_(std::move(file)) {}
  static std::optional<lock_file> lock(const std::filesystem::path& path, int operation, int more_flags);

  descriptor file_;
};

/// Reserves a directory for a server, since only one server at a time can use its filters. Creates it if
/// necessary. Does not restrict access to any filter.
/// @return destroying it ends the reservation, and so does a crash
/// @throws storage_error  another server has reserved it; says where and which
[[nodiscard]] lock_file reserve_to_serve(const std::filesystem::path& directory);

}  // namespace everseen
