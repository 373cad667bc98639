#pragma once

#include <span>
#include <string>

#include <tl/expected.hpp>

#include "everseen/redis/session.hpp"

namespace everseen::redis {

// The steps on a filter's header that must be atomic: by a script, or by a transaction where the server
// forbids scripts.

/// Makes the header, or the sign of another server, unless there is another one. May be done again with the
/// same id.
/// @param fields  field, value, ... beside `id`
/// @return whether it is this one now
/// @throws backend_error  the server refused
[[nodiscard]] tl::expected<bool, outage> begin_header(session& with, const route& to, const std::string& id,
                                                      std::span<const std::string> fields);

/// Puts a header out of sight, because its filter is being dropped; one of another generation stays.
/// @return false  it is being renamed at this moment    @throws backend_error  no answer, or a refusal
[[nodiscard]] bool hide_header(session& with, const std::string& key, const std::string& generation);

/// Unlinks a header; one of another generation stays.
/// @param generation  empty if it has none that can be read
/// @throws backend_error  no answer, or a refusal
void remove_header(session& with, const std::string& key, const std::string& generation);

}  // namespace everseen::redis
