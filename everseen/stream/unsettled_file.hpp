#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/store/descriptor.hpp"

namespace everseen {

/// What is to be appended to a file, and is not settled yet: the hidden file `.NAME.unsettled` beside it.
///
/// It begins with the length that the file had, 20 digits and a newline, and all offsets here are those in
/// the file that it is for. Threads: one at a time, in one process.
class unsettled_file {
 public:
  /// Touches nothing.    @param path  of the file that it is for, absolute
  explicit unsettled_file(const std::string& path);

  /// Begins anew, with what is to stand behind `length` of the file.    @throws storage_error
  void begin(std::uint64_t length);
  /// The one that a process which died has left, if there is one: until then there is nothing.
  /// @throws storage_error
  void find();

  /// Where what it has begins and ends.
  [[nodiscard]] std::uint64_t from() const noexcept { return from_; }
  [[nodiscard]] std::uint64_t to() const noexcept { return to_; }
  [[nodiscard]] bool is_open() const noexcept { return bool(file_); }

  /// Appends.    @pre is_open()    @throws storage_error
  void write(std::string_view text);
  /// What was written is on the disk when it returns.    @pre is_open()    @throws storage_error
  void sync() const;
  /// @pre from() <= begin, begin + bytes <= to()    @throws storage_error
  [[nodiscard]] std::string read(std::uint64_t begin, std::size_t bytes) const;

  /// Nothing of it is needed any more.
  void remove() noexcept;

 private:
  void open(int more_flags);

  std::string path_;
  descriptor file_{};
  std::uint64_t from_ = 0;
  std::uint64_t to_ = 0;
};

}  // namespace everseen
