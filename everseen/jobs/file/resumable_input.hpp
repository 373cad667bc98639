#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/dedup/record/decompression.hpp"
#include "everseen/dedup/record/record_format.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// Bytes of a file, or of standard input, from the settled position on.
///
/// A file is resumed at that position. Standard input must be given again from its beginning, and the
/// settled bytes are skipped; so are those of a compressed file, whose positions are those of its text. A
/// note identifies the input by its beginning, up to 4 KiB, so that another input under the same name is an
/// error and not a gap. Threads: one at a time; note_at(), must_be() and bytes() from any.
class resumable_input {
 public:
  /// @param path        "-": standard input
  /// @param decompress  recognise compressed input
  /// @throws storage_error  it cannot be opened, is a directory, or nothing decompresses it
  explicit resumable_input(const std::string& path, bool decompress = true);

  /// Reads the first record, such as a header line; read() does not return it again. It must end with its
  /// separator: a file that is being written may have part of a line there.
  /// @param follows  whether more may arrive at the end of the input
  /// @param idle     called several times a second while nothing arrives; may throw, which ends the waiting
  /// @return the record without its separator; nothing: the input is empty, and nothing will arrive
  /// @pre begin() and read() were not called
  /// @throws format_error  it is too long for a header, or has no end    @throws storage_error
  [[nodiscard]] std::optional<std::string> take_first(record_format format, bool follows,
                                                      const std::function<void()>& idle);

  /// @param note  the result of note_at(position), empty with 0
  /// @throws parameter_error  it is another file, or shorter than its settled part
  void begin(std::uint64_t position, std::string_view note);

  /// Reads available bytes, at most into.size(); 0 at the current end.
  /// @pre readable_within(), or it waits
  /// @throws storage_error    @throws format_error  compressed input is cut off or damaged
  [[nodiscard]] std::size_t read(std::span<char> into);

  /// Whether settled bytes of standard input are still to be skipped; skip_some() skips some of them.
  [[nodiscard]] bool is_skipping() const noexcept { return skip_ > 0; }
  /// @throws parameter_error  the input ends before them, or is another one
  void skip_some();

  /// Whether read() will not wait. A file at its end is always readable.
  [[nodiscard]] bool readable_within(std::chrono::milliseconds wait) const noexcept;

  /// Whether the name still refers to this file. After log rotation another file has the name, and the
  /// writer may continue with this one for a while.
  /// @throws storage_error  it was truncated, and cannot be followed any more
  [[nodiscard]] bool has_its_name() const;

  /// @param note  by another process, for what should be the same input
  /// @throws parameter_error  the bytes read so far begin differently
  void must_be(std::string_view note) const;

  /// How often a byte occurs before a position; nothing if the input cannot be read twice.
  [[nodiscard]] std::optional<std::uint64_t> count_before(std::uint64_t position, char byte) const;

  /// What begin() needs to resume there.    @pre position is of bytes that were read
  [[nodiscard]] std::string note_at(std::uint64_t position) const;

  /// Where read() begins, unless begin() was given a later position.
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_; }
  /// The absolute path without symbolic links, or "-".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The byte before the first that read() returns; nothing at the beginning.
  [[nodiscard]] std::optional<char> byte_before() const noexcept { return before_; }
  /// Whether it can be followed: what is compressed has an end.
  [[nodiscard]] bool is_compressed() const noexcept { return decompressed_ != nullptr; }
  /// The current length of a regular file.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept;

 private:
  [[nodiscard]] std::optional<char> next_byte(bool follows, const std::function<void()>& idle);
  void examine();
  void remember(std::string_view bytes);
  void compare() const;
  [[nodiscard]] bool begins_as_before() const;
  [[nodiscard]] std::string settled_text() const;

  std::string name_;
  descriptor opened_;  // empty for standard input
  int number_ = 0;
  bool examines_;  // for compression, before the first read
  std::unique_ptr<decompression> decompressed_{};
  bool file_ = false;  // a file that can be read from any position

  std::uint64_t settled_ = 0;
  std::uint64_t skip_ = 0;
  std::uint64_t taken_ = 0;  // by take_first()
  std::string expected_;     // the note
  mutable std::mutex lock_;  // guards the next member
  std::string beginning_;    // of the input, as far as it was read
  std::optional<char> before_;
  std::uint64_t read_to_ = 0;
};

}  // namespace everseen
