#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/port/store.hpp"

namespace everseen::redis {

/// Warnings about settings of a server that could make a filter forget or refuse keys, one sentence each:
/// eviction, a read-only replica, no persistence, a version that is too old.
///
/// @param who   names the server
/// @param info  the reply to INFO: the sections server, memory, replication and persistence; and a line
///   `save:` with the reply to CONFIG GET save, if there was one
[[nodiscard]] std::vector<std::string> warnings_about(std::string_view who, std::string_view info);

/// The same for a filter with jobs, which loses events if a server forgets anything in a crash.
/// @param info  as above, with lines `appendonly:`, `appendfsync:` and `aof-load-truncated:` of CONFIG GET,
///   if there was a reply
[[nodiscard]] std::vector<std::string> warnings_about_jobs(std::string_view who, std::string_view info);

/// What a server of Redis, or everseen serve, says about its use; nothing if it says nothing.
/// @param who   names the server
/// @param info  the reply to INFO: the sections clients, memory and stats
[[nodiscard]] std::optional<server_report> report_of(std::string who, std::string_view info);

/// The value of a field of INFO.
[[nodiscard]] std::optional<std::string_view> info_field(std::string_view info,
                                                         std::string_view field) noexcept;

}  // namespace everseen::redis
