#pragma once

#include <set>
#include <string>
#include <string_view>

#include "everseen/redis/wire/redis_url.hpp"

/// The options of URLs: the part after the question mark.
namespace everseen::redis {

/// @param given  the options that the URL has stated already    @throws parameter_error  as parse_redis_url
void read_options(redis_url& url, std::string_view rest, std::set<std::string_view> given);

/// The option `db`; a URL may also state the database after the host.
inline constexpr std::string_view database_option = "db";
/// @throws parameter_error  it is not a number
void read_database(redis_url& url, std::string_view value);

/// The options that differ from the default, with the question mark; without secrets.
[[nodiscard]] std::string options_of(const redis_url& url);

}  // namespace everseen::redis
