#include "everseen/cli/repeated_option.hpp"

#include <CLI/CLI.hpp>

namespace everseen::cli {

void add_texts(CLI::App& app, const std::string& flags, std::vector<std::string>& target,
               const option_text& manual) {
  const auto read = [&target](const CLI::results_t& values) {
    for (const std::string& value : values) target.push_back(unguarded(value));
    return true;
  };
  app.add_option(flags, read, manual.text)
      ->type_name(manual.value)
      ->default_str(manual.standard)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace everseen::cli
