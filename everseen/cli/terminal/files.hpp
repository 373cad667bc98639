/// Files that verbs read and write whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/lock_file.hpp"

namespace everseen::cli {

/// The open file of this process that a path names, as /dev/stdout and /dev/fd/3 do. Others may write before
/// and behind, so it is neither replaced nor truncated.
/// @return nothing  the path names another file    @throws storage_error
[[nodiscard]] std::optional<descriptor> open_already(const std::string& path);

/// A file that is created atomically: it appears under its name complete or not at all, and replaces an
/// existing file only then.
///
/// Until publish(), the bytes are in a hidden file in the same directory with a unique name. So any number of
/// programs may create the same file concurrently; the last one wins. If the name is a link, the file that it
/// refers to is written. Pipes, devices, open files of this process (/dev/stdout), and files without a name
/// are written directly.
class new_file {
 public:
  enum class readers : std::uint8_t {
    owner,  ///< for files that hold secrets
    usual,  ///< as of the file that is replaced, with its owner where that may be given, or as the umask says
  };
  /// @throws storage_error  it cannot be written there
  explicit new_file(std::string path, readers who = readers::owner);
  ~new_file();
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  [[nodiscard]] int number() const noexcept { return file_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Gives the file its name after its bytes are on the disk.    @throws storage_error
  void publish();

 private:
  std::string path_;
  std::filesystem::path target_;  // path_ with links resolved
  std::string written_;           // the hidden file until publish(); empty for devices
  descriptor file_;
};

/// A file that is created as a new_file is, by several runs if need be: what a run wrote that did not end is
/// there for the next one, which appends to it.
///
/// For a writer that must not produce the same bytes twice. Until publish(), the bytes are in a hidden file
/// in the same directory. Another hidden file, the mark, says who writes and how many of the bytes are
/// settled; it is locked while its run lives, and remains until end(), so a run that is killed between the
/// two is continued as well. Both survive a power loss.
class continued_file {
 public:
  /// Whether a path can have one: what a new_file writes directly cannot.
  [[nodiscard]] static bool is_possible(const std::string& path);

  /// Continues what the last run left of this file, up to its last settle(). The file gets the permissions
  /// of the one that it replaces, and its owner where that may be given.
  /// @param writer  who appends, a line of text for people
  /// @throws storage_error  it cannot be written there, is written by another process, was begun by another
  ///         writer, or has fewer bytes than were settled
  continued_file(std::string path, std::string writer);
  /// Removes the hidden files if nothing was settled, or after end().
  ~continued_file();
  continued_file(const continued_file&) = delete;
  continued_file& operator=(const continued_file&) = delete;

  /// Where to append.
  [[nodiscard]] int number() const noexcept { return file_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The file that holds the bytes until publish().
  [[nodiscard]] const std::filesystem::path& hidden() const noexcept { return hidden_; }
  /// The bytes that a later run finds.
  [[nodiscard]] std::uint64_t settled_bytes() const noexcept { return settled_; }
  /// Of an earlier run that did not end, if the file that had them was taken away.
  [[nodiscard]] std::uint64_t lost_bytes() const noexcept { return lost_; }

  /// Everything appended so far survives a crash and a power loss.    @throws storage_error
  /// Cost: two syncs of the disk.
  void settle();
  /// Settles, and gives the file its name.    @throws storage_error
  void publish();
  /// The next run begins anew. Takes effect when this object is destroyed: until all else that the run wrote
  /// is safe, too.
  void end() noexcept { has_ended_ = true; }

 private:
  void lock_mark();
  void read_mark();
  [[nodiscard]] bool is_left() const;
  void take_back();
  void open_hidden();

  std::string path_;
  std::string writer_;
  std::filesystem::path target_;  // path_ with links resolved
  std::filesystem::path hidden_;
  std::filesystem::path mark_path_;
  std::optional<lock_file> lock_;  // of the mark
  descriptor mark_;
  descriptor file_;
  std::uint64_t settled_ = 0;
  std::uint64_t lost_ = 0;
  bool has_ended_ = false;
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

/// The file for a run's counts. It is opened at the beginning, so that a wrong path fails before any work is
/// done.
class stats_file {
 public:
  /// @param where  a path, or "-": standard error    @throws storage_error
  explicit stats_file(const std::string& where);

  /// @throws storage_error
  void write(std::string_view text) const;

 private:
  std::string name_ = "standard error";
  descriptor file_;  // empty: standard error
};

}  // namespace everseen::cli
