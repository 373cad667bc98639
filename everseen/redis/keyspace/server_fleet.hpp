#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/transport/session.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

// Several independent servers, over which filters are spread: doc/format.md, "Servers".
//
// Partition P of a filter lies on server P modulo their number, and the names on the first. Which server is
// which they say themselves: each keeps an id of its own and the ids of all, so their order in a URL does not
// matter, and one that lost its data, or has no part in it, is told from the others.

/// The fleet that the servers of a URL form.
struct server_fleet {
  redis_url url;                 ///< with its servers in the order of the fleet
  std::vector<std::string> ids;  ///< in the same order

  /// The ids of servers that another URL names, in its order, one behind the other.
  /// @pre they are those of this fleet
  [[nodiscard]] std::string ids_of(const redis_url& named) const;
  /// The URL with the servers of these ids in their order.
  /// @throws format_error  they are not those of this fleet
  [[nodiscard]] redis_url in_order_of(std::string_view those) const;
};

/// @return nothing: no filter is spread over these servers yet
/// @pre url.shape is many    Cost: an exchange with all servers.
/// @throws parameter_error  the URL names other servers than the fleet has, and the message says which
/// @throws format_error     a server has lost its data, or is another one
/// @throws backend_error    several servers do not answer, or one where nothing is known of a fleet
[[nodiscard]] std::optional<server_fleet> find_fleet(session& with, const redis_url& url);

/// Names of filters stand on the first server of a fleet alone; so on another one there would be a second
/// filter of a name.
/// @pre url.shape is one
/// @throws parameter_error  its server is one of several that filters are spread over, and not the first
void require_names_here(session& with, const redis_url& url);

/// The same as find_fleet; it is founded where there is none. May be done by several clients at once. @throws
/// as above
[[nodiscard]] server_fleet found_fleet(session& with, const redis_url& url);

}  // namespace everseen::redis
