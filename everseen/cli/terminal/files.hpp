#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/store/disk/descriptor.hpp"

/// Files that verbs read and write whole.
namespace everseen::cli {

/// A file that is created atomically: it appears under its name complete or not at all, and replaces an
/// existing file only then.
///
/// Until keep(), the bytes are in a hidden file in the same directory with a unique name. So any number of
/// programs may create the same file concurrently; the last one wins. If the name is a link to a file, that
/// file is replaced. Pipes and devices are written directly.
class new_file {
 public:
  enum class readers : std::uint8_t {
    owner,  ///< for files that hold secrets
    usual,  ///< as of the file that is replaced, or as the umask says
  };
  /// @throws storage_error  it cannot be written there
  explicit new_file(std::string path, readers who = readers::owner);
  ~new_file();
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  [[nodiscard]] int number() const noexcept { return file_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Gives the file its name after its bytes are on the disk.    @throws storage_error
  void keep();

 private:
  std::string path_;
  std::filesystem::path target_;  // path_ with links resolved
  std::string written_;           // the hidden file until keep(); empty for devices
  descriptor file_;
};

/// A file to read from.
class input_file {
 public:
  /// @param path  "-" is standard input    @throws storage_error  it cannot be opened
  explicit input_file(const std::string& path);

  [[nodiscard]] bool is_terminal() const noexcept;
  /// The remaining bytes of a regular file; nothing for a pipe or a device.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept;

  /// Reads up to into.size() bytes; 0 at the end.
  /// @throws storage_error  reading failed    @throws stopped  a signal arrived, if note_signals() was
  ///         called
  [[nodiscard]] std::size_t read(std::span<std::byte> into) const;

  /// The path, or "standard input".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  descriptor opened_;
  int number_;
};

/// Runs `work`, which parses the file. If the file is damaged, the error names it.
template <typename Work>
void parse_file(const input_file& file, Work work) {
  try {
    work();
  } catch (const format_error& fault) {
    throw format_error(file.name() + ": " + fault.what());
  }
}

}  // namespace everseen::cli
