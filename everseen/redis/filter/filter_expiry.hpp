#pragma once

#include <optional>
#include <string>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

// When a filter expires: one field of its header, changed by one script. Keys of a filter have no time limit;
// they are removed as those of a dropped one, by filter_directory::remove_expired().

/// Gives a filter another expiry time.
/// @param name   for messages    @param known  its header as read before
/// @throws parameter_error  it has jobs, or is being rebuilt    @throws filter_expired
/// @throws storage_error    it is gone     @throws backend_error, format_error
void expire_at(server_connections& connections, const std::string& name, const filter_identity& f,
               filter_header known, std::optional<event_time> when);

/// Gives a filter the expiry time of the one that it succeeds, which cannot change any more, if it still asks
/// that one.
/// @return false  it is gone    @throws backend_error, format_error
[[nodiscard]] bool copy_expiry(server_connections& connections, const filter_identity& successor,
                               const image::filter_id& before, std::optional<event_time> end);

}  // namespace everseen::redis
