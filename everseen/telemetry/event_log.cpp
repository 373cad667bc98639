#include "everseen/telemetry/event_log.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace everseen::telemetry {

namespace {

using steady = std::chrono::steady_clock;

spdlog::level::level_enum spd(log_level level) noexcept {
  switch (level) {
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warning:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
    case log_level::off:
      break;
  }
  return spdlog::level::off;
}

const char* pattern_of(log_format format) noexcept {
  switch (format) {
    case log_format::json:
      return R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
    case log_format::logfmt:
      return "time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v";
    case log_format::text:
      break;
  }
  return "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";
}

}  // namespace

class event_log::lines {
 public:
  lines(log_format format, log_level least)
      : format_(format), out_("everseen", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    out_.set_level(spd(least));
    out_.set_formatter(
        std::make_unique<spdlog::pattern_formatter>(pattern_of(format), spdlog::pattern_time_type::utc));
    out_.flush_on(spdlog::level::debug);
  }

  [[nodiscard]] bool wants(log_level level) const { return out_.should_log(spd(level)); }

  void write(log_level level, std::string_view event, std::span<const log_field> fields) {
    const std::string line = log_line(format_, event, fields);
    out_.log(spd(level), spdlog::string_view_t(line.data(), line.size()));
  }

  /// The number of events suppressed since the last line; nothing: suppress this one as well.
  std::optional<std::int64_t> left_out(std::string_view event) {
    const std::scoped_lock alone(lock_);
    recent& r = recent_[std::string(event)];
    const auto current = steady::now();
    if (r.written != steady::time_point{} && current - r.written < std::chrono::seconds(1)) {
      ++r.left_out;
      return std::nullopt;
    }
    r.written = current;
    return std::exchange(r.left_out, 0);
  }

 private:
  struct recent {
    steady::time_point written{};
    std::int64_t left_out = 0;
  };
  const log_format format_;
  spdlog::logger out_;
  std::mutex lock_{};
  std::map<std::string, recent, std::less<>> recent_{};
};

event_log::event_log(log_format format, log_level least) : lines_(std::make_unique<lines>(format, least)) {}
event_log::~event_log() = default;

void event_log::write(log_level level, std::string_view event, std::initializer_list<log_field> fields) {
  if (lines_->wants(level)) lines_->write(level, event, {fields.begin(), fields.size()});
}

void event_log::write_sometimes(log_level level, std::string_view event,
                                std::initializer_list<log_field> fields) {
  if (!lines_->wants(level)) return;
  const auto left_out = lines_->left_out(event);
  if (!left_out) return;
  std::vector<log_field> all(fields);
  if (*left_out > 0) all.push_back({"not_logged", *left_out});
  lines_->write(level, event, all);
}

std::optional<log_level> parse_log_level(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, log_level> names[] = {{"debug", log_level::debug},
                                                              {"info", log_level::info},
                                                              {"warning", log_level::warning},
                                                              {"error", log_level::error},
                                                              {"off", log_level::off}};
  for (const auto& [word, level] : names)
    if (word == name) return level;
  return std::nullopt;
}

std::optional<log_format> parse_log_format(std::string_view name) noexcept {
  if (name == "text") return log_format::text;
  if (name == "json") return log_format::json;
  if (name == "logfmt") return log_format::logfmt;
  return std::nullopt;
}

namespace {

/// Escapes what JSON requires and every byte that is not printable ASCII. Values are untrusted: they may not
/// be UTF-8 and could control the terminal.
std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\')
      (text += '\\') += c;
    else if (c >= ' ' && c <= '~')
      text += c;
    else
      fmt::format_to(std::back_inserter(text), "\\u{:04x}", static_cast<unsigned char>(c));
  }
  return text += '"';
}

bool is_plain(std::string_view value) {
  return !value.empty() && std::ranges::all_of(value, [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '=' && c != '\\';
  });
}

std::string text_of(const log_field& field, bool always_quoted) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return std::to_string(*number);
  const std::string_view value = std::get<std::string_view>(field.value);
  return always_quoted || !is_plain(value) ? quoted(value) : std::string(value);
}

}  // namespace

std::string log_line(log_format format, std::string_view event, std::span<const log_field> fields) {
  const bool json = format == log_format::json;
  std::string line = json                           ? fmt::format("\"event\":\"{}\"", event)
                     : format == log_format::logfmt ? fmt::format("event={}", event)
                                                    : std::string(event);
  for (const log_field& field : fields)
    line += json ? fmt::format(",\"{}\":{}", field.name, text_of(field, true))
                 : fmt::format(" {}={}", field.name, text_of(field, false));
  return line;
}

}  // namespace everseen::telemetry
