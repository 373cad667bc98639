#pragma once

#include <span>
#include <string>

#include <tl/expected.hpp>

#include "everseen/redis/session.hpp"

namespace everseen::redis {

// The two steps on a filter's header that must be atomic: by a script, or by a transaction where the server
// forbids scripts. Both throw backend_error if the server refuses.

/// Makes the header, unless there is another one. May be done again with the same id.
/// @param fields  field, value, ... beside `id`
/// @return whether the header is this one now
[[nodiscard]] tl::expected<bool, outage> begin_header(session& with, const std::string& key,
                                                      const std::string& id,
                                                      std::span<const std::string> fields);

/// Puts a header that is there out of sight, because its filter is being dropped.
[[nodiscard]] tl::expected<void, outage> hide_header(session& with, const std::string& key);

}  // namespace everseen::redis
