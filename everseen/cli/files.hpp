#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "everseen/store/descriptor.hpp"

/// Files that verbs read and write whole.
namespace everseen::cli {

/// A file that appears under its name complete or not at all; what stood there before stays until then.
///
/// Only its owner may read and write it: what verbs write whole holds secrets. Until keep() the bytes are in
/// a hidden file of their own in the same directory, so any number of programs may make the same file at
/// once; the last one wins. Where a link leads to a file, that file is replaced. Pipes and devices have no
/// such moment and are written directly.
class new_file {
 public:
  /// @throws storage_error  it cannot be written there
  explicit new_file(std::string path);
  ~new_file();
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  [[nodiscard]] int number() const noexcept { return file_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Gives the file its name, once its bytes are on the disk.    @throws storage_error
  void keep();

 private:
  std::string path_;
  std::filesystem::path target_;  // path_ without the link it may be
  std::string written_;           // where the bytes are until keep(); empty for devices
  descriptor file_;
};

/// A file to read from.
class input_file {
 public:
  /// @param path  "-" is standard input    @throws storage_error  it cannot be opened
  explicit input_file(const std::string& path);

  [[nodiscard]] bool is_terminal() const noexcept;
  /// What is left to read of a regular file; nothing of a pipe or a device.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept;

  /// Fills some of `into`; 0 at the end.
  /// @throws storage_error  reading failed    @throws stopped  by a signal, where note_signals() was called
  [[nodiscard]] std::size_t read(std::span<std::byte> into) const;

 private:
  std::string name_;
  descriptor opened_;
  int number_;
};

}  // namespace everseen::cli
