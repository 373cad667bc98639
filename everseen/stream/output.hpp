#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace everseen {

/// Writes to a file descriptor and notices when that fails.
/// Threads: one at a time.
class output {
 public:
  /// @param name  for messages    The descriptor stays the caller's.
  output(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  /// Writes all of it.
  /// @throws storage_error  the disk is full, the reader has gone, ...
  void write(std::string_view bytes);

  /// Finds out without writing that nobody can read what would be written: the other end of the pipe is
  /// closed.
  [[nodiscard]] bool is_abandoned() const noexcept;
  /// @throws storage_error  is_abandoned(); as write would throw
  void check_reader() const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  int descriptor_;
  std::string name_;
  std::uint64_t bytes_ = 0;
};

}  // namespace everseen
