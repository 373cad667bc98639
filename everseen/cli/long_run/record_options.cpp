#include "everseen/cli/long_run/record_options.hpp"

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"

namespace everseen::cli {

char parse_delimiter(std::string_view what, std::string_view text) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text.size() == 1) return text.front();
  throw parameter_error(
      fmt::format("{} '{}' is not one character of one byte; give one, as in ',', or tab", what, text));
}

std::optional<outage_watch::policy> parse_outage(std::string_view word) {
  if (word == "fail") return outage_watch::policy::fail;
  if (word == "pass") return outage_watch::policy::pass;
  if (word == "hold") return outage_watch::policy::hold;
  return std::nullopt;
}

}  // namespace everseen::cli
