#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "everseen/redis/attached_filter.hpp"
#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// What to do where there is no key to attach.
enum class missing_key : std::uint8_t {
  refuse,  ///< most likely its name is wrong
  create,  ///< the first key that is added makes it
};

/// Remembers a filter of another program under a name. Writes keys of everseen's own and nothing else.
///
/// Of shards, the instances are the servers of the URL in their order, which server_order.hpp holds on to:
/// every server gets a sign, or nothing is attached.
/// @return the strings as they are
/// @throws parameter_error  it cannot be (validate, missing_key, a string too long for it, a chain that does
///                          not lie in one slot of a cluster)    @throws name_taken
/// @throws format_error     there is a key of another type
/// @throws backend_error
std::vector<bitmap> attach(session_pool& pool, const catalogue& names, std::string_view name, attachment a,
                           missing_key missing);

/// The filter that a header names.
[[nodiscard]] std::shared_ptr<attached_filter> open_attached(std::shared_ptr<session_pool> pool,
                                                             const header& h, access how);

}  // namespace everseen::redis
