#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/foreign/attached/attached_filter.hpp"

/// What the verbs print about filters that other programs keep.
namespace everseen::cli {

/// The output of `info`. Reads all bits, on their servers.
/// @param store  its URL, as shown to people
void print_attached_info(const filter& f, const std::string& store, printer& out);
/// @param warnings  those of the store; the filter's own precede them
void print_attached_json(const filter& f, const std::string& store, const std::vector<std::string>& warnings,
                         printer& out);

/// The output of `explain`.
void explain_attached(const foreign::attached_filter& a, std::string_view key, bool json, printer& out);

/// Whether a missing string is expected, so that no warning is needed.
enum class may_be_missing : bool { no, yes };

/// Prints warnings about a filter on standard error.
void warn_of_attached(const foreign::attached_filter& a, const std::vector<foreign::bitmap>& all,
                      may_be_missing may);

/// Prints on standard error which strings existed when the filter, or its predecessor, was attached, and are
/// gone now: verdicts treat them as empty. Nothing for other filters.
/// @throws  as foreign::survey
void warn_of_lost_strings(const filter& f);

}  // namespace everseen::cli
