#pragma once

#include <optional>
#include <string_view>

#include "everseen/cli/outage_watch.hpp"

/// Words that several verbs over streams of records take alike.
namespace everseen::cli {

/// One character of one byte, or `tab`.    @param what  the option    @throws parameter_error
[[nodiscard]] char parse_delimiter(std::string_view what, std::string_view text);

/// fail, pass or hold; nothing for another word.
[[nodiscard]] std::optional<outage_watch::policy> parse_outage(std::string_view word);

}  // namespace everseen::cli
