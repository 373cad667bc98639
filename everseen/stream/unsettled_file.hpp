#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "everseen/store/descriptor.hpp"
#include "everseen/store/disk.hpp"

namespace everseen {

/// What is to be appended to a file, and is not there yet: the hidden file `.NAME.unsettled` beside it.
///
/// It is empty, or begins with a line: the length that the file had, 20 digits, and whose it is. All offsets
/// here are those in the file that it is for. Threads: one at a time; a lock keeps others on this machine
/// away.
class unsettled_file {
 public:
  /// Touches nothing.    @param path  of the file that it is for, absolute    @param on  outlives it
  unsettled_file(const std::string& path, disk& on);

  /// Makes it where there is none, and finds what a process that died has left.
  /// @param shown  the file that it is for: nobody may read this one who may not read that    @throws
  /// storage_error  also: another process has it open
  void open(int shown);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whose it is.
  [[nodiscard]] const std::string& mark() const noexcept { return mark_; }
  /// Where what it has begins and ends.
  [[nodiscard]] std::uint64_t from() const noexcept { return from_; }
  [[nodiscard]] std::uint64_t to() const noexcept { return to_; }
  [[nodiscard]] bool is_empty() const noexcept { return from_ == to_; }

  /// Forgets what it has; what comes is to stand behind `length` of the file.
  /// @pre it is open    @throws storage_error
  void clear(std::uint64_t length);
  /// Says whose it is.    @pre clear() was called last    @throws storage_error
  void begin(std::string_view mark);
  /// Appends.    @pre begin() was called    @throws storage_error
  void write(std::string_view text);
  /// What was written is on the disk when it returns.    @throws storage_error
  void sync() const;
  /// @pre from() <= begin, begin + bytes <= to()    @throws storage_error
  [[nodiscard]] std::string read(std::uint64_t begin, std::size_t bytes) const;
  /// @throws storage_error  somebody without the lock has written to it
  void must_be_as_begun() const;

  /// Nothing of it is needed any more.
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
  std::uint64_t to_ = 0;
};

}  // namespace everseen
