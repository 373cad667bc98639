#include "everseen/cli/terminal/progress.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/core/spec/time_text.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

constexpr std::string_view erase_line = "\r\x1b[K";

void to_terminal(std::string_view text) {
  // Progress is optional: a closed terminal must not end the run.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string minutes_and_seconds(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds, 359'999.0));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string per_second(double rate) {
  if (rate < 1e4) return fmt::format("{:.0f} /s", rate);
  return rate < 1e6 ? fmt::format("{:.0f} k/s", rate / 1e3) : fmt::format("{:.1f} M/s", rate / 1e6);
}

progress_line::progress_line(std::optional<std::uint64_t> total_bytes, std::string access_path,
                             bool shares_terminal)
    : terminal_(::isatty(STDERR_FILENO) == 1 && !(shares_terminal && ::isatty(STDOUT_FILENO) == 1)),
      total_bytes_(total_bytes),
      access_path_(std::move(access_path)) {}

progress_line::~progress_line() {
  if (drawn_) to_terminal(erase_line);
}

void progress_line::show(position current) {
  draw([&](double seconds) { return text(current, total_bytes_, access_path_, seconds); });
}

void progress_line::show(std::string_view text) {
  draw([&](double) { return text; });
}

template <typename Text>
void progress_line::draw(Text text_after_seconds) {
  if (!terminal_) return;
  const std::scoped_lock alone(drawing_);
  const clock::time_point time = clock::now();
  if (time < next_) return;
  next_ = time + std::chrono::milliseconds(100);
  const double seconds = std::chrono::duration<double>(time - begin_).count();
  to_terminal(std::string(erase_line).append(text_after_seconds(seconds)));
  drawn_ = true;
}

void progress_line::say(std::string_view text) {
  const std::scoped_lock alone(drawing_);
  to_terminal(fmt::format("{}everseen: {}\n", drawn_ ? erase_line : "", text));
  drawn_ = false;
}

std::string progress_line::text(position current, std::optional<std::uint64_t> total_bytes,
                                std::string_view access_path, double seconds) {
  const double rate = static_cast<double>(current.lines) / std::max(seconds, 1e-3);
  std::string line = fmt::format("{} lines, {}", format_count(current.lines), per_second(rate));
  if (total_bytes && current.bytes > 0) {
    const double share =
        std::min(1.0, static_cast<double>(current.bytes) / static_cast<double>(*total_bytes));
    line +=
        fmt::format(", {:.0f} %, {} left", 100 * share, minutes_and_seconds(seconds * (1 - share) / share));
  }
  if (!total_bytes && current.waiting) line += fmt::format(", {} waiting", format_count(*current.waiting));
  if (current.watermark) line += fmt::format(", at {}", format_event_time(*current.watermark).substr(0, 19));
  if (!access_path.empty()) line += fmt::format(", {}", access_path);
  return line;
}

}  // namespace everseen::cli
