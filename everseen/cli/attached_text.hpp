#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/printer.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/redis/attached/attached_filter.hpp"
#include "everseen/report/attached.hpp"

/// What the verbs say of filters that other programs keep.
namespace everseen::cli {

/// What `info` shows. Reads all bits, on their servers.
void print_attached_info(const filter& f, printer& out);
/// @param warnings  those of the store; the filter's own are put before them
void print_attached_json(const filter& f, const std::vector<std::string>& warnings, printer& out);

/// What `explain` shows.
void explain_attached(const filter& f, std::string_view key, bool json, printer& out);

/// Whether it is known that a string is not there yet, so that nobody need be told.
enum class may_be_missing : bool { no, yes };

/// Says on standard error what speaks against a filter.
void warn_of_attached(const redis::attached_filter& a, const std::vector<redis::bitmap>& all,
                      may_be_missing may);

/// Says on standard error which strings were there when the filter, or the one that it asks first, was
/// attached, and are not any more: to the verdicts they are empty. Nothing for other filters.
/// @throws  as redis::survey
void warn_of_lost_strings(const filter& f);

}  // namespace everseen::cli
