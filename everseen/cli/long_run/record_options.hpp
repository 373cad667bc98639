#pragma once

#include <optional>
#include <string_view>

#include "everseen/cli/long_run/outage_watch.hpp"

/// Option values that several verbs for streams of records share.
namespace everseen::cli {

/// One single-byte character, or `tab`.    @param what  the option    @throws parameter_error
[[nodiscard]] char parse_delimiter(std::string_view what, std::string_view text);

/// fail, pass or hold; nothing for another word.
[[nodiscard]] std::optional<outage_watch::policy> parse_outage(std::string_view word);

}  // namespace everseen::cli
