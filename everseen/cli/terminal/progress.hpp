#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/spec/spec.hpp"

namespace everseen::cli {

/// A rate for people, as in 1.2 M/s.
[[nodiscard]] std::string per_second(double rate);

/// One line on a terminal with the progress of a long run: rewritten in place, erased when the run ends.
///
/// Shows nothing unless standard error is a terminal. Shows nothing either if the run prints to standard
/// output and that is a terminal, too: the two would mix. Threads: any number; calls are serialized.
class progress_line {
 public:
  /// @param total_bytes  of the input, if known: then the fraction done and the remaining time are shown
  /// @param access_path  how the filter is reached, shown at the end of the line unless empty
  /// @param shares_terminal  the run prints lines to standard output
  progress_line(std::optional<std::uint64_t> total_bytes, std::string access_path,
                bool shares_terminal = true);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// From now on only say() prints.
  void hide() noexcept { terminal_ = false; }

  struct position {
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> waiting{};  ///< lines, if known of a stream without an end
    std::optional<event_time> watermark{};   ///< the latest time of an event
  };
  /// Cheap: reads the clock, and draws at most ten times a second.
  void show(position current);
  /// Something else that takes time.
  void show(std::string_view text);

  /// Since this object was created.
  [[nodiscard]] std::chrono::duration<double> lasted() const { return clock::now() - begin_; }

  /// Writes a permanent line to standard error, terminal or not: "everseen: text".
  void say(std::string_view text);

  /// The text of the line; separate, so that it can be tested.
  [[nodiscard]] static std::string text(position current, std::optional<std::uint64_t> total_bytes,
                                        std::string_view access_path, double seconds);

 private:
  using clock = std::chrono::steady_clock;

  template <typename Text>
  void draw(Text text_after_seconds);

  bool terminal_;
  const std::optional<std::uint64_t> total_bytes_;
  const std::string access_path_;
  std::mutex drawing_;  // guards the members below
  bool drawn_ = false;
  clock::time_point begin_ = clock::now();
  clock::time_point next_ = begin_ + std::chrono::milliseconds(300);  // short runs show nothing
};

}  // namespace everseen::cli
