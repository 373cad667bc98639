#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// Sends one repeatable command about one key.
/// @throws format_error  the key has another type    @throws backend_error  no answer, or an error as the
///   answer
[[nodiscard]] reply ask_about(session& with, const route& key, std::initializer_list<std::string_view> words);

/// The error for a key that is damaged or missing.
[[nodiscard]] format_error damaged_key(const std::string& key, const std::string& what);

/// Milliseconds since 1970, the form of all times in fields.
[[nodiscard]] std::string to_text(event_time t);

}  // namespace everseen::redis
