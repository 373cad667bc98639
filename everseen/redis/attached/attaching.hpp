#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/attached/attached_filter.hpp"
#include "everseen/redis/keyspace/server_fleet.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// What to do where there is no key to attach.
enum class missing_key : std::uint8_t {
  refuse,  ///< most likely its name is wrong
  create,  ///< the first key that is added makes it
};

/// Remembers a filter of another program under a name. Writes keys of everseen's own and nothing else.
///
/// @param shards  of the URL with its servers as they are named: shards lie on them in this order
/// @param with, fleet  the same servers as those that filters are spread over; none: there is one, or a
/// cluster
/// @return the strings as they are
/// @throws parameter_error  it cannot be (validate, missing_key, a string too long for it, a chain that does
///                          not lie in one slot of a cluster)    @throws name_taken
/// @throws format_error     there is a key of another type
/// @throws backend_error
std::vector<bitmap> attach(session_pool& shards, session& with, const filter_directory& in,
                           std::string_view name, attachment a, const std::optional<server_fleet>& fleet,
                           missing_key missing);

/// The filter of a name that leads to an attached one.
/// @throws parameter_error  it does not fit the URL    @throws format_error, backend_error
[[nodiscard]] std::shared_ptr<attached_filter> open_attached(std::shared_ptr<session_pool> pool,
                                                             const found_filter& f,
                                                             const std::optional<server_fleet>& fleet,
                                                             access how);

}  // namespace everseen::redis
