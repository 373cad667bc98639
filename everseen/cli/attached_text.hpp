#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/printer.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/redis/attached_filter.hpp"

/// What the verbs say of filters that other programs keep.
namespace everseen::cli {

/// The attached filter behind a handle; null where it is one of everseen's own.
[[nodiscard]] const redis::attached_filter* attached_behind(const filter& f) noexcept;

/// What `info` shows. Reads all bits, on their servers.
void print_attached_info(const filter& f, printer& out);
/// @param warnings  those of the store; the filter's own are put before them
void print_attached_json(const filter& f, const std::vector<std::string>& warnings, printer& out);

/// What `explain` shows.
void explain_attached(const filter& f, std::string_view key, bool json, printer& out);

/// Says on standard error what speaks against a filter.
void warn_of_attached(const redis::attached_filter& a, const std::vector<redis::bitmap>& all);

}  // namespace everseen::cli
