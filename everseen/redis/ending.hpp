#pragma once

#include <optional>
#include <string_view>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

// All keys of a filter, on all servers, are to end at another moment than before.
//
// The header never outlives a partition: an earlier end is told to it first, a later one last. So whoever
// finds a partition missing finds no header either, and learns that the filter has ended. Ends are numbered;
// who is late with an older one changes nothing. Who dies on the way leaves the end in the header, and
// whoever opens the filter to write, or gives it another end, does the rest.

/// @param when  nothing: never
/// @throws parameter_error  it has jobs, is being rebuilt, or is another program's
/// @throws no_filter, format_error, storage_error, backend_error
void end_at(session& with, const catalogue& names, std::string_view name, std::optional<event_time> when);

/// Does what is left of it; nothing if there is nothing.
/// @param h  as it was read; brought up to date    @throws no_filter, format_error, backend_error
void finish_end(session& with, const catalogue& names, header& h);

}  // namespace everseen::redis
