#include "everseen/cli/verb/option_set.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace everseen::cli {

std::string manual_entry::heading() const {
  std::string heading = fmt::format("{}", fmt::join(flags, ", "));
  const bool attached = value.starts_with("[=");
  if (!value.empty()) heading += (heading.empty() || attached ? "" : " ") + value;
  return many ? heading + "..." : heading;
}

std::string manual_entry::body() const {
  return standard.empty() ? text : fmt::format("{} (default: {})", text, standard);
}

std::vector<std::string> manual_entry::choices() const {
  std::vector<std::string> found;
  if (value.empty() || !std::islower(static_cast<unsigned char>(value.front()))) return found;
  for (std::size_t from = 0; from <= value.size();) {
    const std::size_t end = std::min(value.find('|', from), value.size());
    found.push_back(value.substr(from, end - from));
    from = end + 1;
  }
  return found;
}

std::string manual_entry::name() const {
  const auto flag = std::ranges::find_if(flags, [](const std::string& f) { return f.starts_with("--"); });
  return flag == flags.end() ? "" : flag->substr(2);
}

}  // namespace everseen::cli
