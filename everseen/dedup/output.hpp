#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace everseen {

/// Writes to a file descriptor and reports failures.
/// Threads: one at a time.
class output {
 public:
  /// @param name  for messages    The caller owns the descriptor.
  output(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  /// Writes all of it.
  /// @throws storage_error  the disk is full, the reader has closed the pipe, ...
  void write(std::string_view bytes);

  /// Ends the record in which a file that is appended to may end, since a run was killed: the next record
  /// would be joined to it, and lost.    @return whether there was one    @throws storage_error
  /// @param quoted  records are those of CSV: a quoted field is ended, too, which takes a look at the whole
  /// file
  bool end_record(char separator, bool quoted);

  /// Whether the other end of the pipe is closed, checked without writing.
  [[nodiscard]] bool is_abandoned() const noexcept;
  /// @throws storage_error  is_abandoned(); as write would throw
  void check_reader() const;

  /// Whether a reader may leave some of what was written unread.
  [[nodiscard]] bool is_pipe() const noexcept;

  /// Waits until the reader of a pipe has taken all that was written. Returns immediately for anything else.
  /// @param goes_on  called about ten times a second; returns whether to wait longer, and may throw
  /// @throws storage_error  the reader has closed the pipe and left some of it unread
  void wait_until_read(const std::function<bool()>& goes_on) const;
  /// Whether the pipe still has all that was written, so that its reader may not have begun to read.
  [[nodiscard]] bool is_untouched() const noexcept;

  /// Returns once everything written survives a power loss. Does nothing for what is not a regular file.
  /// @throws storage_error  the disk failed
  void sync() const;
  [[nodiscard]] bool is_file() const noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  int descriptor_;
  std::string name_;
  std::uint64_t bytes_ = 0;
};

}  // namespace everseen
