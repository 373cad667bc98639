#include "everseen/cli/stores.hpp"

#include <cstdlib>

#include "everseen/core/error.hpp"

namespace everseen::cli {

namespace {

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

std::string store_url(const std::optional<std::string>& given) {
  if (given) return *given;
  if (auto url = environment_value("EVERSEEN_STORE")) return *url;
  if (const auto data = environment_value("XDG_DATA_HOME")) return "file:" + *data + "/everseen";
  if (const auto home = environment_value("HOME")) return "file:" + *home + "/.local/share/everseen";
  throw parameter_error("there is no place for filters: give --store URL, or set EVERSEEN_STORE or HOME");
}

}  // namespace everseen::cli
