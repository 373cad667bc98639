#include "everseen/redis/keyspace/filter_keys.hpp"

#include <cstring>

#include "everseen/redis/keyspace/asking.hpp"

namespace everseen::redis {

std::string bytes_of(const image::filter_id& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

image::filter_id id_in(std::string_view bytes, const std::string& key) {
  image::filter_id id;
  if (bytes.size() != id.size()) throw damaged_key(key, "holds something else than the id of a filter");
  std::memcpy(id.data(), bytes.data(), id.size());
  return id;
}

std::optional<image::filter_id> id_in_field(const reply& field, const std::string& key) {
  if (field.is_nil()) return std::nullopt;
  return id_in(field.text(), key);
}

}  // namespace everseen::redis
