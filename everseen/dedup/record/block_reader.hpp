#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/dedup/record/decompression.hpp"
#include "everseen/dedup/record/record_ends.hpp"
#include "everseen/dedup/record/record_format.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// Whole records of one input, and the position of the block in the order of all inputs.
class block {
 public:
  [[nodiscard]] char* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// The index of its input.
  [[nodiscard]] std::size_t input() const noexcept { return input_; }

 private:
  friend class block_reader;
  void limit(std::size_t bytes);  // to so much text, for which there is room then
  [[nodiscard]] std::size_t room() const noexcept { return limit_ > size_ ? limit_ - size_ : 0; }

  std::unique_ptr<char[]> bytes_;  // not a vector: its resize() would zero memory that read() fills
  std::size_t capacity_ = 0;
  std::size_t limit_ = 0;
  std::size_t size_ = 0;
  std::uint64_t number_ = 0;
  std::size_t input_ = 0;
};

/// Cuts files (or standard input) into blocks at record boundaries.
///
/// Compressed input is decompressed by another process: decompression.
/// Reads with read(2) into reused memory, which stays in the cache. Mapping the file would cost a page fault
/// for every 64 KiB, and a crash if the file is truncated. A missing separator after the last record of each
/// file is added. A block grows to hold a record that is longer than a block. Threads: one at a time; the
/// caller holds a lock around next().
class block_reader {
 public:
  /// Readable bytes after the text of every block, for vector code. Their values are undefined.
  static constexpr std::size_t padding = 64;
  /// The longest record, and the most that is read after the carried-over bytes. Offsets inside a block have
  /// 32 bits.
  static constexpr std::size_t max_record_bytes = std::size_t{3} << 30;
  static constexpr std::size_t max_read_bytes = (std::size_t{1} << 30) - 1;
  static_assert(max_record_bytes + max_read_bytes < std::size_t{1} << 32);

  /// @param paths  files in order; empty or "-": standard input
  /// @throws storage_error  a file cannot be opened, or is a directory; all are opened before anything is
  ///         read
  block_reader(std::vector<std::string> paths, record_format format, std::size_t block_bytes);

  /// Called ten times a second while a pipe or terminal has nothing to read. It may throw, which ends
  /// next().
  void while_waiting(std::function<void()> call) { while_waiting_ = std::move(call); }

  /// The first record of the first input that is not empty, if the format says that it names the fields;
  /// waits for it. Nothing: all inputs are empty. The others must begin with the same names.
  /// @pre next() was not called before    @throws storage_error  reading failed
  /// @throws format_error  it has more than a mebibyte
  [[nodiscard]] const std::optional<std::string>& header();

  /// Fills `into` with the next records. Whole records that were read before a read failure are returned
  /// first; the next call throws. After an exception, all later calls throw it again.
  /// @return false at the end of the input
  /// @throws storage_error  reading failed, or a record exceeds max_record_bytes
  /// @throws format_error   an input ends between quotes, is compressed and damaged, or begins with other
  ///         names of fields than the one that header() is of
  [[nodiscard]] bool next(block& into);

  /// Begins with blocks of this size, each twice as long as the last, up to that of the constructor.
  void begin_with(std::size_t bytes) noexcept { next_bytes_ = std::min(bytes, block_bytes_); }

  /// Reads blocks of at most this size from now on, except for a longer record.
  void limit_blocks(std::size_t bytes) noexcept {
    block_bytes_ = std::min(bytes, block_bytes_);
    next_bytes_ = std::min(next_bytes_, block_bytes_);
  }

  /// Called with each block but its header, the input's name, and whether it is the input's first block.
  using block_observer = std::function<void(std::string_view text, const std::string& name, bool is_first)>;
  void on_blocks(block_observer call) { on_blocks_ = std::move(call); }

  /// The path of an input, or "standard input".    @pre which < number of inputs
  [[nodiscard]] const std::string& name_of(std::size_t which) const noexcept { return inputs_[which].path; }

  /// Whether the input can be read again, as files can.
  [[nodiscard]] bool can_rewind() const noexcept;
  /// Starts again at the first record.    @pre can_rewind()
  /// @throws storage_error  the system refused
  void rewind();

  /// Size of all inputs together. Unknown if one of them is compressed, a pipe, a terminal or a device, and
  /// if the total is 0: files of /proc report a size of 0, whatever they hold.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

  /// Estimated number of records, from the mean record length near the beginning, the middle and the end.
  /// Nothing if total_bytes() is unknown. Reads some 100 KB a file.
  [[nodiscard]] std::optional<std::uint64_t> estimate_records() const;

 private:
  struct input {
    std::string path;
    descriptor opened;  // empty for standard input, which this class must not close
    std::unique_ptr<decompression> decompressed{};
    bool is_examined = false;  // for compression
    bool regular = false;
    std::uint64_t bytes_read = 0;
    std::int64_t begin = 0;  // for a regular file: standard input may start in the middle of one
    [[nodiscard]] int source() const noexcept;  // what was opened
    [[nodiscard]] int number() const noexcept;  // what is read
  };

  void examine(input& in);
  bool read_next(block& into);
  void begin(block& into);
  [[nodiscard]] bool readable_within(int milliseconds) const noexcept;
  std::size_t read_some(char* target, std::size_t room);
  void end_of_input(block& into);
  void begin_next_input();
  void must_not_end_in_quotes(block& into);
  [[noreturn]] void refuse_open_quotes(std::string_view record) const;
  /// Ends the block after its last whole record and keeps the rest for the next block. False if it has none.
  bool cut(block& into);
  [[nodiscard]] std::optional<std::string> take_header();
  void set_header(std::string line);
  void pass_header();
  void must_name_the_same_fields(std::string_view line) const;

  std::vector<input> inputs_;
  std::size_t current_ = 0;
  record_format format_;
  std::size_t block_bytes_;
  std::size_t next_bytes_;
  std::string carry_;        // the beginning of a record that was not read to its end
  growing_records records_;  // of the block that is read, from its beginning
  std::uint64_t next_number_ = 0;
  std::exception_ptr failure_;  // why nothing more can be read
  std::optional<std::uint64_t> total_bytes_;
  std::function<void()> while_waiting_;
  block_observer on_blocks_;
  std::size_t begun_inputs_ = 0;  // whose first blocks were read
  std::optional<std::string> header_;
  std::vector<std::string> field_names_;  // in the header
  std::size_t header_from_ = 0;           // the input that it is of
  bool at_header_;                        // the current input begins with one, which was not read yet
};

}  // namespace everseen
