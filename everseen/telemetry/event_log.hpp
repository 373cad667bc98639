#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace everseen::telemetry {

enum class log_level : std::uint8_t { debug, info, warning, error, off };
/// Format of a line: for people, or for programs that read JSON or key=value.
enum class log_format : std::uint8_t { text, json, logfmt };

[[nodiscard]] std::optional<log_level> parse_log_level(std::string_view name) noexcept;
[[nodiscard]] std::optional<log_format> parse_log_format(std::string_view name) noexcept;

/// A named value on a line.
struct log_field {
  std::string_view name;
  std::variant<std::string_view, std::int64_t> value;
};

/// The log of a long-running program: one line per event, on standard error.
///
///     log.write(log_level::warning, "outage", {{"filter", name}, {"why", message}});
///
/// An event is a constant word, so that alerts can match it; everything variable is a field. Never log keys
/// of filters, passwords or URLs with passwords.
/// Threads: any number. Cost: nothing below the level; else a write(2).
class event_log {
 public:
  event_log(log_format format, log_level least);
  ~event_log();
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  void write(log_level level, std::string_view event, std::initializer_list<log_field> fields = {});

  /// For events that clients can cause at any rate. Writes at most one line per event and second; the next
  /// line carries the number of suppressed ones.
  void write_sometimes(log_level level, std::string_view event, std::initializer_list<log_field> fields);

 private:
  class lines;
  std::unique_ptr<lines> lines_;
};

/// The part of a line after its time and level. Any value keeps it one valid line of its format.
[[nodiscard]] std::string log_line(log_format format, std::string_view event,
                                   std::span<const log_field> fields);

}  // namespace everseen::telemetry
