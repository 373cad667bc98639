#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/record_options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/filter/filter.hpp"

/// The common parts of the verbs with keys.
namespace everseen::cli {

/// The keys of a command: its arguments if there are any, else the lines of standard input, or of a file.
class key_source {
 public:
  /// @param options  how the lines have their keys
  /// @throws parameter_error  `options` says more than --zero, and there are arguments
  key_source(const std::vector<std::string>& arguments, const record_options& options);
  /// @param path  "-" is standard input    @throws storage_error  it cannot be opened
  key_source(const std::string& path, const record_options& options);

  /// The next keys, valid until the next call; false at the end. A pipe's lines are returned as they arrive.
  /// @throws storage_error  reading failed    @throws stopped  a signal arrived, if note_signals() was
  ///         called    @throws format_error  a line has no key; the keys before it were returned
  [[nodiscard]] bool next(std::vector<std::string_view>& keys);

  /// Whether the keys can be read again: those of a pipe cannot.
  [[nodiscard]] bool can_rewind() const noexcept;
  /// Starts again at the first key.    @pre can_rewind()    @throws storage_error  reading failed
  void rewind();

  /// Of the lines to read; nothing if unknown.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const noexcept;

  /// Where a key is, by its index among those that next() returned last: "line 5 of ids.txt", or "key 5 of
  /// those given".
  [[nodiscard]] std::string place_of(std::size_t index) const;
  /// The same by its number among all lines, or all keys of the command, from 0.
  [[nodiscard]] std::string place_at(std::uint64_t number) const;

  /// Says on standard error how many lines without a key were dropped.
  void note_dropped() const;

 private:
  void read_lines(std::vector<std::string> paths);

  void read_keys(std::vector<std::string_view>& keys);
  void pass_over(std::string_view line, std::uint64_t number, record_fault why);
  [[noreturn]] void refuse_line() const;

  std::vector<std::string> arguments_;
  record_options options_;
  bool begun_ = false;
  std::optional<block_reader> lines_;
  block block_;
  std::vector<std::uint32_t> ends_;
  std::optional<event_rule> rule_;  // nothing: each line is a key
  kept_keys kept_;
  std::uint64_t lines_before_ = 0;          // the block
  std::uint64_t lines_of_block_ = 0;        // of which next() has returned the keys
  std::vector<std::uint32_t> line_of_key_;  // in the block, if lines have keys by a rule
  std::string fault_;                       // of the line after the last key; empty if it has none
  std::uint64_t dropped_ = 0;
  std::string first_dropped_;  // where it is, and why it has no key
};

/// Options of a verb with keys.
struct key_options {
  std::string name;
  std::vector<std::string> keys;
  std::optional<event_time> time;
  record_options records;
  bool quiet = false;

  [[nodiscard]] char separator() const noexcept { return records.format().separator; }
  /// The time for the keys: nothing without a window, else --time or the clock.
  /// @throws parameter_error  --time, but the filter has no window
  [[nodiscard]] std::optional<event_time> time_for(const spec& s) const;
  /// The same as filters take it: one time, or none.
  [[nodiscard]] std::vector<event_time> times_for(const spec& s) const;
};

/// declare_key(), and what to do with lines that have no key.
void declare_line_keys(option_set& known, record_options& into);
/// Without those of declare_line_keys().    @param quiet  what --quiet omits
void add_key_options(option_set& known, key_options& target, const std::string& quiet);

/// Counts the keys of a command that the filter can never take, such as words where it needs numbers. The
/// other keys still get their verdicts, and the command reports the unfit ones at its end.
class unfit_keys {
 public:
  /// Where a key is, by its index: key_source::place_of.
  using place_of_key = std::function<std::string(std::size_t)>;
  /// @param judged  the result of this filter for the next keys of the command
  /// @throws  the error of the batch if it failed for another reason
  void note(const filter& judge, std::span<const std::string_view> keys, const batch_result& judged,
            const place_of_key& place);

  /// What is wrong with the first unfit key, and where it is; nothing if every key fits.
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
