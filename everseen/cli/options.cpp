#include "everseen/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "everseen/core/error.hpp"
#include "everseen/stream/record_rule.hpp"

namespace everseen::cli {

namespace {

/// The long flag, which messages name.
std::string long_flag(const std::string& flags) {
  const std::size_t at = flags.find("--");
  return at == std::string::npos ? flags : flags.substr(at, flags.find(',', at) - at);
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// CLI11's own conversions give values such as `{}` a meaning; the words as typed are wanted.
CLI::Option* add_raw(CLI::App& app, const std::string& name, const option_text& manual,
                     CLI::callback_t read) {
  const auto read_typed = [read = std::move(read)](CLI::results_t values) {
    for (std::string& value : values) value = unguarded(std::move(value));
    return read(values);
  };
  CLI::Option* option = app.add_option(name, read_typed, manual.text);
  option->type_name(manual.value)->default_str(manual.standard)->allow_extra_args(false);
  return option;
}

}  // namespace

void add_switch(CLI::App& app, const std::string& flags, bool& target, const std::string& text) {
  app.add_flag(flags, text)->each([&target, what = long_flag(flags)](const std::string& value) {
    if (value != "true") throw parameter_error(fmt::format("{} takes no value; write {} alone", what, what));
    target = true;
  });
}

void add_option(CLI::App& app, const std::string& flags, const option_text& manual, value_reader read) {
  add_raw(app, flags, manual,
          [read = std::move(read), what = long_flag(flags)](const CLI::results_t& values) {
            if (values.size() > 1)
              throw parameter_error(fmt::format("{} is given twice; give it once", what));
            read(what, values.front());
            return true;
          })
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_text(CLI::App& app, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual) {
  add_option(app, flags, manual, [&target](std::string_view, std::string_view value) { target = value; });
}

void add_optional_text(CLI::App& app, const std::string& flag, std::optional<std::string>& target,
                       const std::string& alone, const option_text& manual) {
  // As a flag of CLI11 with a value of its own, since an option would swallow the argument after it.
  app.add_flag(flag + "{" + alone + "}", target, manual.text)->type_name("[=" + manual.value + "]");
}

void add_count(CLI::App& app, const std::string& flags, std::optional<std::uint64_t>& target,
               count_bounds bounds, const option_text& manual) {
  add_option(app, flags, manual, [&target, bounds](std::string_view what, std::string_view value) {
    target = parse_count(what, value, bounds);
  });
}

void add_rate(CLI::App& app, const std::string& flags, std::optional<double>& target, rate_bounds bounds,
              const option_text& manual) {
  add_option(app, flags, manual, [&target, bounds](std::string_view what, std::string_view value) {
    target = parse_rate(what, value, bounds);
  });
}

void add_duration(CLI::App& app, const std::string& flags, std::optional<std::chrono::milliseconds>& target,
                  const option_text& manual, std::chrono::milliseconds least) {
  add_option(app, flags, manual, [&target, least](std::string_view what, std::string_view value) {
    target = parse_duration(what, value, least);
  });
}

void add_time(CLI::App& app, const std::string& flags, std::optional<event_time>& target,
              const option_text& manual) {
  add_option(app, flags, manual, [&target](std::string_view what, std::string_view value) {
    target = parse_event_time(value);
    if (!target)
      throw parameter_error(
          fmt::format("{} {} is not a time; give seconds or milliseconds since 1970, or 2023-11-14T22:13:20Z",
                      what, value));
  });
}

void add_argument(CLI::App& app, std::string& target, const option_text& manual) {
  add_raw(app, manual.value, manual, [&target](const CLI::results_t& values) {
    target = values.front();
    return true;
  })->required();
}

void add_argument(CLI::App& app, std::optional<std::string>& target, const option_text& manual) {
  add_raw(app, manual.value, manual, [&target](const CLI::results_t& values) {
    target = values.front();
    return true;
  });
}

void add_arguments(CLI::App& app, std::vector<std::string>& target, const option_text& manual) {
  add_raw(app, manual.value, manual,
          [&target](const CLI::results_t& values) {
            target = values;
            return true;
          })
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(true);
}

namespace {

constexpr char guard = '\1';

}  // namespace

std::string guarded(std::string argument) {
  const bool needs_guard = argument.starts_with('[') || argument.starts_with(guard);
  return needs_guard ? guard + argument : argument;
}

std::string unguarded(std::string argument) {
  return argument.starts_with(guard) ? argument.substr(1) : argument;
}

void refuse_choice(std::string_view what, std::string_view word, std::string_view choices) {
  throw parameter_error(
      fmt::format("{} {} is not known; use {}", what, word, replace_all(std::string(choices), "|", ", ")));
}

}  // namespace everseen::cli
