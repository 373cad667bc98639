#include "everseen/server/registry/databases.hpp"

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::server {

database_key database_key_of(std::string_view name) noexcept {
  const std::size_t colon = name.find(':');
  if (!name.starts_with('@') || colon == std::string_view::npos) return {0, name};
  const std::string_view digits = name.substr(1, colon - 1);
  const auto database = digits.starts_with('0') ? std::nullopt : read_number<database_index>(digits);
  if (!database || *database >= database_count) return {0, name};
  return {*database, name.substr(colon + 1)};
}

std::string in_database(database_index database, std::string_view key) {
  if (key.empty()) return {};  // no name, in any database
  if (database != 0) return "@" + std::to_string(database) + ":" + std::string(key);
  if (const database_key other = database_key_of(key); other.database != 0)
    throw parameter_error("keys that begin with '@" + std::to_string(other.database) +
                          ":' belong to database " + std::to_string(other.database) +
                          "; SELECT it, and leave that beginning out");
  return std::string(key);
}

}  // namespace everseen::server
