#include "everseen/redis/keyspace/filter_keys.hpp"

#include <cstring>
#include <span>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/redis_keys.hpp"
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

std::string encode_manifest(const filter_identity& f, std::uint32_t partition, const partition_state& s) {
  image::manifest m;
  m.filter = f.id;
  m.spec = f.spec;
  m.clean = true;
  for (const announced_filter::segment& each : segments_of(partition, s.slices))
    m.segments.push_back({each.id, each.layer.shape, each.layer.capacity});
  const auto bytes = image::encode_manifest(m);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

image::manifest decode_manifest(const filter_identity& f, std::uint32_t partition, std::string_view bytes) {
  const std::string key = f.keys.state(partition);
  image::manifest m;
  try {
    m = image::decode_manifest(std::as_bytes(std::span(bytes)));
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
  if (m.filter != f.id) throw damaged_key(key, "belongs to another filter");
  if (m.spec != f.spec) throw damaged_key(key, "was made by another spec");
  for (const image::manifest::entry& entry : m.segments) {
    if (entry.id.partition != partition) throw damaged_key(key, "names a segment of another partition");
    if (!partition_keys::excess_of(entry.shape).empty())
      throw damaged_key(key, "names a segment that no server can have");
  }
  return m;
}

}  // namespace everseen::redis
