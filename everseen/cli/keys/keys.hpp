#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/verb.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/stream/record/block_reader.hpp"

/// What the verbs with keys have in common.
namespace everseen::cli {

/// The keys of a command: its arguments if there are any, else the lines of standard input, or of a file.
class key_source {
 public:
  key_source(const std::vector<std::string>& arguments, char separator);
  /// @param path  "-" is standard input    @throws storage_error  it cannot be opened
  key_source(const std::string& path, char separator);

  /// The next keys, valid until the next call; false at the end. A pipe's lines are returned as they arrive.
  /// @throws storage_error  reading failed    @throws stopped  a signal arrived, if note_signals() was
  ///         called
  [[nodiscard]] bool next(std::vector<std::string_view>& keys);

  /// Whether the keys can be read again: those of a pipe cannot.
  [[nodiscard]] bool can_rewind() const noexcept;
  /// Starts again at the first key.    @pre can_rewind()    @throws storage_error  reading failed
  void rewind();

  /// Of the lines to read; nothing if unknown.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const noexcept;

 private:
  void read_lines(std::vector<std::string> paths);

  std::vector<std::string> arguments_;
  char separator_;
  bool begun_ = false;
  std::optional<block_reader> lines_;
  block block_;
  std::vector<std::uint32_t> ends_;
};

/// Options of a verb with keys.
struct key_options {
  std::string name;
  std::vector<std::string> keys;
  std::optional<event_time> time;
  bool zero = false;
  bool quiet = false;

  [[nodiscard]] char separator() const noexcept { return zero ? '\0' : '\n'; }
  /// The time for the keys: nothing without a window, else --time or the clock.
  /// @throws parameter_error  --time, but the filter has no window
  [[nodiscard]] std::optional<event_time> time_for(const spec& s) const;
};

/// @param quiet  what --quiet omits
void add_key_options(option_set& known, key_options& target, const std::string& quiet);

/// Counts the keys of a command that the filter can never take, such as words where it needs numbers. The
/// other keys still get their verdicts, and the command reports the unfit ones at its end.
class unfit_keys {
 public:
  /// @param judged  the result of this filter for the next keys of the command
  /// @throws  the error of the batch if it failed for another reason
  void note(const filter& by, std::span<const std::string_view> keys, const batch_result& judged);

  /// What is wrong with the first unfit key, and its number among all keys from 1; nothing if every key
  /// fits.
  [[nodiscard]] const std::optional<std::string>& fault() const noexcept { return fault_; }
  /// Called at the end.
  /// @throws parameter_error  fault(), and the number of unfit keys; all others were judged
  void raise_if_any() const;

 private:
  std::optional<std::string> fault_;
  std::uint64_t given_ = 0;
  std::uint64_t unfit_ = 0;
};

/// Prints `verdict<TAB>key` for each key that has an answer.
void print_verdicts(std::span<const std::string_view> keys, std::span<const verdict> verdicts, char separator,
                    printer& out);

}  // namespace everseen::cli
