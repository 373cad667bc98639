#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "everseen/foreign/attached/attached_filter.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/keyspace/server_fleet.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::foreign {

/// What to do if there is no key to attach.
enum class missing_key : std::uint8_t {
  refuse,  ///< most likely its name is wrong
  create,  ///< the first key that is added makes it
};

/// Gives a filter that another program keeps on these servers a name. Writes only everseen's own keys.
///
/// @param servers  of sharded filters, their order in the URL is that of the shards
/// @return the strings as they are
/// @throws parameter_error  it cannot be attached (validate, missing_key, a string is too long, a chain is
///   not in one slot of a cluster)    @throws name_taken
/// @throws format_error     a key has another type
/// @throws backend_error
std::vector<bitmap> attach(const redis::fleet_servers& servers, std::string_view name, attachment a,
                           missing_key missing);

/// The same for a filter under a key of the module, as BF.RESERVE makes it: its users go on sending BF.* to
/// that key.
/// @throws parameter_error  also if there is no key, the server lacks the module, the key is a part of a
///   filter of everseen, or a cluster keeps tokens of the key in another slot    @throws  else as attach
void attach_value(const redis::fleet_servers& servers, std::string_view name, const std::string& key);

/// The attachment of a filter of bitmaps, even if it cannot be opened; nothing for others.
/// @throws  as redis_store::open, about its header
[[nodiscard]] std::optional<attachment> attachment_of(const redis::fleet_servers& servers,
                                                      std::string_view name);

/// Opens the attached filter of a name; see attached_opener.
/// @throws parameter_error  it does not fit the URL    @throws format_error, backend_error
[[nodiscard]] std::shared_ptr<stored_filter> open_attached(std::shared_ptr<redis::connection_pool> servers,
                                                           const redis::found_filter& f,
                                                           const std::optional<redis::server_fleet>& fleet,
                                                           access mode);

}  // namespace everseen::foreign
