#include "everseen/foreign/attached/attaching.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/format/image_fields.hpp"
#include "everseen/foreign/attached/bitmaps.hpp"
#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/served/packed_keys.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/slot_map.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::foreign {

namespace {

using form = attachment::form;
using topology = redis::redis_url::topology;

/// The prefix of all keys that are kept for this attachment besides its header. In such a key, the first
/// braces are those of the string that it is about.
std::string own_names(const redis::filter_keys& f) {
  return f.prefix() + ":" + f.id() + ":";
}

void require_topology(const redis::redis_url& url, const attachment& a) {
  if (a.shape == form::sharded) {
    if (url.shape == topology::cluster)
      throw parameter_error("--sharded is for independent servers; a cluster spreads its keys by itself");
    return;
  }
  if (url.shape == topology::many)
    throw parameter_error(
        "which of the servers has " + a.key +
        "? Give --store the URL of that one alone, or --sharded if bkdr-php spread it over all");
  if (url.shape == topology::cluster && has_config(a) &&
      redis::slot_of(config_key(a)) != redis::slot_of(a.key))
    throw parameter_error("in a cluster the filter " + a.key + " and the hash " + config_key(a) +
                          " must lie in one slot; its name has a brace that leads elsewhere");
  const redis::slot_number slot = redis::slot_of(a.cursor);
  if (a.shape == form::growing && url.shape == topology::cluster &&
      (slot != redis::slot_of(growing_key(a, 0)) || slot != redis::slot_of(growing_key(a, 1))))
    throw parameter_error(
        "in a cluster the strings of a growing filter and its cursor must lie in one slot: "
        "give them one hash tag, as in --key {uids} --cursor {uids}:cursor");
}

/// Compares the existing strings with their description.
void require_strings(const attachment& a, const std::vector<bitmap>& all, missing_key missing) {
  const bool there = std::ranges::any_of(all, [](const auto& b) { return b.bytes > 0; });
  // tryInit() creates only the hash, which was read.
  if (!there && missing == missing_key::refuse && !has_config(a))
    throw parameter_error("there is no key " + all.front().place.key +
                          "; check its name, or add --create if the first key added is to make it");
  if (a.shape != form::growing) return;
  for (const auto& b : all)
    if (b.bytes > 0 && 8 * b.bytes != a.hashing.bits)
      throw parameter_error(b.place.key + " has " + std::to_string(8 * b.bytes) + " bits and not " +
                            std::to_string(a.hashing.bits) +
                            "; all strings of a growing filter are of one length");
}

/// The sizes that the filter's program stored, which must be those given by the user, if any.
scheme sizes_of(redis::server_connections& connections, const attachment& a) {
  const scheme stored = stored_sizes(connections, a);
  if (a.hashing.bits != 0 && a.hashing != stored)
    throw parameter_error("the hash " + config_key(a) + " says " + config_text({stored}) +
                          " bits and probes and not " + config_text(a) +
                          "; leave the sizes out, or check the name");
  return stored;
}

/// A value is attached under its spec, which has its seed: if another filter is made under the key, its users
/// are told.
std::optional<redis::filter_identity> value_in(const redis::found_filter& f) {
  const redis::attached_record& stored = *f.header.attached;
  if (!stored.record.starts_with(image::fields::spec_magic)) return {};
  try {
    return redis::filter_identity{redis::filter_keys::of_value(stored.key),
                                  image::decode_spec(std::as_bytes(std::span(stored.record))),
                                  {}};
  } catch (const error& e) {
    throw redis::damaged_key(f.identity.keys.header(), std::string("is damaged (") + e.what() + ")");
  }
}

/// @throws format_error  its record is damaged
attachment attachment_in(const redis::found_filter& f) {
  const redis::attached_record& stored = *f.header.attached;
  try {
    return decode_attachment(stored.record, stored.key, stored.cursor);
  } catch (const error& e) {
    throw redis::damaged_key(f.identity.keys.header(), std::string("is damaged (") + e.what() + ")");
  }
}

}  // namespace

std::vector<bitmap> attach(const redis::fleet_servers& servers, std::string_view name, attachment a,
                           missing_key missing) {
  validate_filter_name(name);
  const redis::redis_url& url = servers.url();
  const bool shards = a.shape == attachment::form::sharded;
  a.instances = shards ? static_cast<std::uint32_t>(url.endpoints.size()) : 0;
  if (!has_config(a)) validate(a);
  require_topology(url, a);
  const redis::connection_pool::lease named = servers.named()->take();
  if (has_config(a)) {
    a.hashing = sizes_of(*named, a);
    validate(a);
  }
  require_commands(url, a);
  const auto pool =
      servers.connected(shards ? redis::fleet_servers::purpose::found : redis::fleet_servers::purpose::look);
  const redis::filter_directory directory(url.prefix, servers.count());
  if (directory.has(*pool->take(), name)) throw filter_exists(name);
  std::vector<bitmap> all = survey(*named, a);
  require_strings(a, all, missing);
  a.was_there = std::ranges::all_of(all, [](const bitmap& b) { return b.bytes > 0; });
  const auto fleet = servers.fleet();
  directory.attach(*pool->take(), name, {encode(a), a.key, a.cursor},
                   fleet ? fleet->ids_of(url) : std::string());
  return all;
}

void attach_value(const redis::fleet_servers& servers, std::string_view name, const std::string& key) {
  validate_filter_name(name);
  const redis::redis_url& url = servers.url();
  if (url.shape == topology::many)
    throw parameter_error("which of the servers has " + key + "? Give --store the URL of that one alone");
  const std::string own = url.prefix + ":{";
  if (key.empty() || key.starts_with(own))
    throw parameter_error(key.empty() ? "the key of a filter to be attached must not be empty"
                                      : "the key " + key +
                                            " belongs to a filter of everseen; open that by its own name");
  const redis::filter_keys value = redis::filter_keys::of_value(key);
  if (url.shape == topology::cluster && redis::slot_of(value.token(0, {})) != redis::slot_of(key))
    throw parameter_error("in a cluster the key must have a hash tag, as in {" + key +
                          "}, so that the answers that are remembered for it lie in its slot");
  const auto pool = servers.connected();
  const redis::connection_pool::lease connections = pool->take();
  redis::require_module(*connections);
  const redis::filter_directory directory(url.prefix, servers.count());
  if (directory.has(*connections, name)) throw filter_exists(name);
  const auto record = image::encode_spec(redis::spec_of_value(*connections, value));
  directory.attach(*connections, name,
                   {{reinterpret_cast<const char*>(record.data()), record.size()}, key, {}}, {});
}

std::optional<attachment> attachment_of(const redis::fleet_servers& servers, std::string_view name) {
  const redis::filter_directory directory(servers.url().prefix, servers.count());
  const redis::found_filter found = directory.look_up(*servers.connected()->take(), name, false);
  if (!found.header.attached || value_in(found)) return {};
  return attachment_in(found);
}

std::shared_ptr<stored_filter> open_attached(std::shared_ptr<redis::connection_pool> servers,
                                             const redis::found_filter& f,
                                             const std::optional<redis::server_fleet>& fleet, access mode) {
  if (const auto value = value_in(f)) {
    if (servers->url().shape == topology::many)
      throw parameter_error("the key " + value->keys.state(0) +
                            " is on one server; give --store its URL alone");
    return redis::open_served(std::move(servers), value->keys.state(0), *value, mode);
  }
  const attachment a = attachment_in(f);
  require_commands(servers->url(), a);
  require_topology(servers->url(), a);
  if (fleet && fleet->url.endpoints != fleet->in_order_of(f.header.instances).endpoints)
    servers = std::make_shared<redis::connection_pool>(fleet->in_order_of(f.header.instances), *servers);
  return std::make_shared<attached_filter>(std::move(servers), a, own_names(f.identity.keys), mode);
}

}  // namespace everseen::foreign
