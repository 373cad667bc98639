#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// Which filter asks which other one first: everseen/store/link/linked_filter.hpp. The link_hash says so,
// whoever judges the two; that neither is dropped or renamed meanwhile, filter_directory sees to.

/// From now on who opens `newer` asks `older` first.
/// @param life  for so long, by the clock of the server; nothing: until unlink()
/// @throws no_filter, parameter_error  as store::link
/// @throws backend_error               also where scripts are forbidden
void link(session& with, const filter_directory& in, std::string_view older, std::string_view newer,
          std::optional<std::chrono::milliseconds> life);

/// Who has `newer` open goes on asking the older one until he opens it again.
/// @throws no_filter    @throws parameter_error  it is linked to none    @throws backend_error
void unlink(session& with, const filter_directory& in, std::string_view newer);

}  // namespace everseen::redis
