#include "everseen/cli/program/command_line.hpp"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace everseen::cli {

namespace {

/// CLI11 splits an argument such as `[a,b]`, so an argument that begins like this gets a prefix.
constexpr char guard = '\1';

std::string guarded(std::string word) {
  const bool needs_guard = word.starts_with('[') || word.starts_with(guard);
  return needs_guard ? guard + word : word;
}

std::string unguarded(std::string word) {
  return word.starts_with(guard) ? word.substr(1) : word;
}

words unguarded(words all) {
  for (std::string& word : all) word = unguarded(std::move(word));
  return all;
}

CLI::Option* declare_switch(CLI::App& app, const option& o) {
  const std::string flags = fmt::format("{}", fmt::join(o.shown.flags, ","));
  return app.add_flag(flags)->each([&o](const std::string& value) {
    if (value != "true")
      throw parameter_error(fmt::format("--{0} takes no value; write --{0} alone", o.shown.name()));
    o.read({});
  });
}

/// As a flag of CLI11 with a value: an option would consume the next word.
CLI::Option* declare_optional_value(CLI::App& app, const option& o) {
  return app.add_flag(fmt::format("{}{{{}}}", o.shown.flags.front(), o.alone))
      ->each([&o](const std::string& value) { o.read({unguarded(value)}); });
}

/// CLI11's own conversions interpret values such as `{}`; we want the words as typed.
CLI::Option* declare_value(CLI::App& app, const option& o) {
  const bool is_argument = o.shown.flags.empty();
  const std::string name = is_argument ? o.shown.value : fmt::format("{}", fmt::join(o.shown.flags, ","));
  CLI::Option* declared = app.add_option(name, [&o](const CLI::results_t& values) {
    o.read(unguarded(values));
    return true;
  });
  declared->type_name(o.shown.value)->allow_extra_args(o.shown.many)->required(o.shown.required);
  if (o.shown.many) declared->expected(0, CLI::detail::expected_max_vector_size);
  if (!is_argument) declared->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return declared;
}

CLI::Option* declare(CLI::App& app, const option& o) {
  if (o.shown.takes_a_word()) return declare_value(app, o);
  return o.shown.value.empty() ? declare_switch(app, o) : declare_optional_value(app, o);
}

}  // namespace

std::vector<typed_option> read_command_line(const option_set& options, const words& typed) {
  CLI::App app;
  app.set_help_flag();
  std::vector<std::pair<const option*, CLI::Option*>> declared;
  for (const option& o : options) declared.emplace_back(&o, declare(app, o));

  words backwards(typed.rbegin(), typed.rend());
  std::ranges::transform(backwards, backwards.begin(), guarded);
  try {
    app.parse(std::move(backwards));
  } catch (const CLI::ExtrasError& fault) {
    throw bad_command_line(fault.what(), unguarded(app.remaining()));
  } catch (const CLI::ParseError& fault) {
    throw bad_command_line(fault.what(), {});
  }
  std::vector<typed_option> given;
  for (const auto& [o, by_app] : declared)
    if (by_app->count() > 0)
      given.push_back({o, o->shown.value.empty() ? words{} : unguarded(by_app->results())});
  return given;
}

}  // namespace everseen::cli
