#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// Lines that are to be appended to a file later: the hidden file `.NAME.unsettled` beside it.
///
/// It is empty, or begins with a line that has the length of the main file at that time, in 20 digits, and
/// the owner's mark. All offsets here are offsets in the main file. Threads: one at a time; a lock excludes
/// other processes on this machine.
class unsettled_file {
 public:
  /// Touches nothing.    @param path  of the main file, absolute    @param on  outlives this
  unsettled_file(const std::string& path, disk& on);

  /// Creates it if it does not exist, and finds what a crashed process left.
  /// @param shown  the main file: its permissions limit who may read this one
  /// @throws storage_error  also: another process has it open
  void open(int shown);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The owner's mark.
  [[nodiscard]] const std::string& mark() const noexcept { return mark_; }
  /// The range of its content.
  [[nodiscard]] std::uint64_t from() const noexcept { return from_; }
  [[nodiscard]] std::uint64_t to() const noexcept { return until_; }
  [[nodiscard]] bool is_empty() const noexcept { return from_ == until_; }

  /// Empties it. The next content begins at offset `length` of the main file.
  /// @pre it is open    @throws storage_error
  void clear(std::uint64_t length);
  /// Writes the owner's mark.    @pre clear() was called last    @throws storage_error
  void begin(std::string_view mark);
  /// Appends.    @pre begin() was called    @throws storage_error
  void write(std::string_view text);
  /// Makes the written content durable.    @throws storage_error
  void sync() const;
  /// @pre from() <= begin, begin + bytes <= to()    @throws storage_error
  [[nodiscard]] std::string read(std::uint64_t begin, std::size_t bytes) const;
  /// @throws storage_error  a process without the lock has written to it
  void must_be_as_begun() const;

  /// Removes the file, whose content is no longer needed.
  void remove() noexcept;

 private:
  void find(int file);
  [[nodiscard]] mode_t mode_of(int file) const;
  [[nodiscard]] bool has_its_name(int file) const;
  [[nodiscard]] std::string head() const;

  std::string path_;
  disk& disk_;
  descriptor file_{};
  std::string mark_{};
  std::uint64_t from_ = 0;
  std::uint64_t until_ = 0;
};

}  // namespace everseen
