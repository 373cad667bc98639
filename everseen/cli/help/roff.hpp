#pragma once

#include <string>

#include "everseen/cli/verb/verb.hpp"

/// Manual pages in roff, generated from the descriptions of the verbs.
namespace everseen::cli {

[[nodiscard]] std::string overview_page();
[[nodiscard]] std::string verb_page(const verb& v);

}  // namespace everseen::cli
