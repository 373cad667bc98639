#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/store/descriptor.hpp"

namespace everseen {

/// Bytes of a file, or of standard input, from the place on where they were settled.
///
/// A file is read on from there. Standard input is to be given again from its beginning, and what was settled
/// is skipped. A note tells the input again by its beginning, up to 4 KiB of it, so that another one under
/// the same name is an error and not a gap. Threads: one at a time, but note_at(), must_be() and bytes(),
/// which any may call.
class resumable_input {
 public:
  /// @param path  "-": standard input    @throws storage_error  it cannot be opened, or is a directory
  explicit resumable_input(const std::string& path);

  /// Takes the first record, as a line of names is, off what read() gives. It ends at its separator alone: of
  /// a file that is being written there may be a piece.
  /// @param follows  whether more may come where the input ends
  /// @param idle     called some times a second while nothing comes; may throw, which ends the waiting
  /// @return the record without its separator; empty, too, where there is nothing and nothing is to come
  /// @pre begin() and read() were not called
  /// @throws format_error  it is longer than a line of names can be, or has no end    @throws storage_error
  [[nodiscard]] std::string take_first(char separator, bool follows, const std::function<void()>& idle);

  /// @param note  what note_at(position) gave, empty with 0
  /// @throws parameter_error  it is another file, or shorter than what was settled
  void begin(std::uint64_t position, std::string_view note);

  /// Reads what there is, at most as much as there is room for; 0 at the end, for now.
  /// @pre readable_within(), or it waits    @throws storage_error
  [[nodiscard]] std::size_t read(std::span<char> into);

  /// Whether bytes of standard input that were settled are still to come; skip_some() reads some of them.
  [[nodiscard]] bool is_skipping() const noexcept { return skip_ > 0; }
  /// @throws parameter_error  it ends before them, or is another input
  void skip_some();

  /// Whether read() will not wait. At its end a file is always readable.
  [[nodiscard]] bool readable_within(std::chrono::milliseconds wait) const noexcept;

  /// Whether the name still leads to this file: where another has it, as after a rotation of logs, whoever
  /// writes may go on with this one for a while.
  /// @throws storage_error  it was cut short: following it has an end
  [[nodiscard]] bool has_its_name() const;

  /// @param note  that another process gave of what should be the same input
  /// @throws parameter_error  it begins otherwise, as far as was read
  void must_be(std::string_view note) const;

  /// How often a byte stands before a position; nothing where the input cannot be read twice.
  [[nodiscard]] std::optional<std::uint64_t> count_before(std::uint64_t position, char byte) const;

  /// What begin() must know to go on from there.    @pre position is of bytes that were read
  [[nodiscard]] std::string note_at(std::uint64_t position) const;

  /// Where read() begins, unless begin() was given a later place.
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_; }
  /// The absolute path without links, or "-".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The byte before the first that read() gives; nothing at the beginning.
  [[nodiscard]] std::optional<char> byte_before() const noexcept { return before_; }
  /// Of a regular file, as long as it is now.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept;

 private:
  [[nodiscard]] std::optional<char> next_byte(bool follows, const std::function<void()>& idle);
  void remember(std::string_view bytes);
  void compare() const;
  [[nodiscard]] bool begins_as_before() const;
  [[nodiscard]] std::string settled_text() const;

  std::string name_;
  descriptor opened_;  // none for standard input
  int number_ = 0;
  bool file_ = false;  // that can be begun anywhere

  std::uint64_t settled_ = 0;
  std::uint64_t skip_ = 0;
  std::uint64_t taken_ = 0;  // by take_first()
  std::string expected_;     // the note
  mutable std::mutex lock_;  // guards the next one
  std::string beginning_;    // of the input, as far as it was read
  std::optional<char> before_;
  std::uint64_t read_to_ = 0;
};

}  // namespace everseen
