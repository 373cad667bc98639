#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// Creates and removes links: everseen/store/link/linked_filter.hpp. They are kept in the link_hash, for both
// kinds of judges; filter_directory prevents linked filters from being dropped or renamed.

/// Clients that open `newer` from now on ask `older` first.
/// @param life  duration, by the clock of the server; nothing: until unlink()
/// @throws no_filter, parameter_error  as store::link
/// @throws backend_error               also if scripts are forbidden
void link(session& with, const filter_directory& in, std::string_view older, std::string_view newer,
          std::optional<std::chrono::milliseconds> life);

/// Clients that have `newer` open continue to ask the older filter until they reopen it.
/// @throws no_filter    @throws parameter_error  it has no link    @throws backend_error
void unlink(session& with, const filter_directory& in, std::string_view newer);

}  // namespace everseen::redis
