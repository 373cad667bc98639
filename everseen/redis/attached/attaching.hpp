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

/// What to do if there is no key to attach.
enum class missing_key : std::uint8_t {
  refuse,  ///< most likely its name is wrong
  create,  ///< the first key that is added makes it
};

/// Gives a filter of another program a name. Writes only everseen's own keys.
///
/// @param shards  of the URL with its servers in the given order, which is the order of the shards
/// @param connections, fleet  the same servers, in the order of the fleet; none: there is one server, or a
/// cluster
/// @return the strings as they are
/// @throws parameter_error  it cannot be attached (validate, missing_key, a string is too long, a chain is
///   not in one slot of a cluster)    @throws name_taken
/// @throws format_error     a key has another type
/// @throws backend_error
std::vector<bitmap> attach(session_pool& shards, session& connections, const filter_directory& in,
                           std::string_view name, attachment a, const std::optional<server_fleet>& fleet,
                           missing_key missing);

/// Opens the attached filter of a name.
/// @throws parameter_error  it does not fit the URL    @throws format_error, backend_error
[[nodiscard]] std::shared_ptr<attached_filter> open_attached(std::shared_ptr<session_pool> pool,
                                                             const found_filter& f,
                                                             const std::optional<server_fleet>& fleet,
                                                             access mode);

}  // namespace everseen::redis
