#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/descriptor.hpp"

namespace everseen {

/// Bytes of the input that begin and end with whole records, and their place in the order of the input.
class block {
 public:
  [[nodiscard]] char* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  friend class block_reader;
  void reserve(std::size_t bytes);                  // of text
  [[nodiscard]] std::size_t room() const noexcept;  // for more text

  std::unique_ptr<char[]> bytes_;  // not a vector: growing must not write zeros over memory that read() fills
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::uint64_t number_ = 0;
};

/// Cuts files (or standard input) into blocks at record boundaries.
///
/// Reads with read(2) into memory that is used again and again and so stays in the cache; mapping the file
/// would cost a page fault for every 64 KiB and a crash when somebody cuts it short. A last record without
/// its separator gets one, also between files. A record longer than a block makes that block as long as it
/// needs. Threads: one at a time; the caller holds a lock around next().
class block_reader {
 public:
  /// Room after the text of every block that may be read (not used) by vector code.
  static constexpr std::size_t padding = 64;
  /// The longest record, and how much is read behind what was carried over. Offsets inside a block have 32
  /// bits.
  static constexpr std::size_t max_record_bytes = std::size_t{3} << 30;
  static constexpr std::size_t max_read_bytes = (std::size_t{1} << 30) - 1;
  static_assert(max_record_bytes + max_read_bytes < std::size_t{1} << 32);

  /// @param paths  files in order; empty: standard input; "-" is standard input, too
  /// @throws storage_error  a file cannot be opened, or is a directory; all are tried before anything is read
  block_reader(std::vector<std::string> paths, char separator, std::size_t block_bytes);

  /// What to do ten times a second while a pipe or terminal has nothing to read. May throw, which ends
  /// next().
  void while_waiting(std::function<void()> call) { while_waiting_ = std::move(call); }

  /// Fills `into` with the next records. Whole records that were read before reading failed are handed out
  /// first; the call after that throws. Whatever was thrown is thrown by all later calls, too.
  /// @return false at the end of the input
  /// @throws storage_error  reading failed, or a record exceeds max_record_bytes
  [[nodiscard]] bool next(block& into);

  /// Whether the input can be read again, as files can.
  [[nodiscard]] bool can_rewind() const noexcept;
  /// Begins again with the first record, as if nothing had been read.    @pre can_rewind()
  /// @throws storage_error  the system refused
  void rewind();

  /// Size of all inputs together, unless one of them is a pipe, a terminal or a device. Not known either when
  /// it seems to be 0: files of /proc say so of themselves, whatever they hold.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

  /// Records in the whole input, by the mean length of those near the beginning, the middle and the end.
  /// Nothing where total_bytes() is unknown. Reads some 100 KB a file.
  [[nodiscard]] std::optional<std::uint64_t> estimate_records() const;

 private:
  struct input {
    std::string path;
    descriptor opened;  // none for standard input, which is not ours to close
    bool regular = false;
    std::int64_t begin = 0;  // of a regular one: standard input may come from the middle of a file
    [[nodiscard]] int number() const noexcept;
  };

  bool read_next(block& into);
  void begin(block& into);
  [[nodiscard]] bool readable_within(int milliseconds) const noexcept;
  std::size_t read_some(char* to, std::size_t room);
  void end_of_input(block& into);
  /// Ends the block after its last whole record and keeps the rest for the next. False if there is none.
  bool cut(block& into, std::size_t searched);

  std::vector<input> inputs_;
  std::size_t current_ = 0;
  char separator_;
  std::size_t block_bytes_;
  std::string carry_;  // the beginning of a record whose end was not read yet
  std::uint64_t next_number_ = 0;
  std::exception_ptr failure_;  // why nothing more can be read
  std::optional<std::uint64_t> total_bytes_;
  std::function<void()> while_waiting_;
};

}  // namespace everseen
