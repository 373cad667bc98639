#include "everseen/cli/verb/name_options.hpp"

#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen::cli {

namespace {

std::string read_name(const std::string& typed) {
  std::string name = typed_name(typed);
  validate_filter_name(name);
  return name;
}

}  // namespace

void add_name(option_set& known, std::string& target, const option_text& manual) {
  add_argument(known, target, manual);
  known.back().read = [&target](const words& values) { target = read_name(values.front()); };
}

void add_name(option_set& known, std::optional<std::string>& target, const option_text& manual) {
  add_argument(known, target, manual);
  known.back().read = [&target](const words& values) { target = read_name(values.front()); };
}

void add_name(option_set& known, const std::string& flags, std::optional<std::string>& target,
              const option_text& manual) {
  add_option(known, flags, manual, [&target](std::string_view option, std::string_view value) {
    try {
      target = read_name(std::string(value));
    } catch (const parameter_error& why) {
      throw parameter_error(std::string(option) + ": " + why.what());
    }
  });
}

}  // namespace everseen::cli
