#pragma once

#include <string>
#include <string_view>

namespace everseen::server {

/// The logical databases of the Redis protocol, as names of filters.
///
/// Database 0 has the filters under their own keys. In database N, the key K is the filter `@N:K`, so the CLI
/// and the HTTP interface can use it too, and every store can keep it. Database 0 has no keys of that form.
using database_index = unsigned;

/// As in Redis, where this is the default.
inline constexpr database_index database_count = 16;

/// @throws parameter_error  a key of database 0 has the form of another database's
[[nodiscard]] std::string in_database(database_index database, std::string_view key);

/// The database of a filter, and its key there.
struct database_key {
  database_index database = 0;
  std::string_view key;
};
[[nodiscard]] database_key database_key_of(std::string_view name) noexcept;

}  // namespace everseen::server
