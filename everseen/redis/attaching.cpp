#include "everseen/redis/attaching.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "everseen/redis/header.hpp"
#include "everseen/redis/renaming.hpp"
#include "everseen/redis/slot_map.hpp"

namespace everseen::redis {

namespace {

using form = attachment::form;
using topology = redis_url::topology;

/// Begins the names of all that is kept for this attachment beside the header.
std::string own_names(const remote_filter& f) {
  return f.keys.header() + "/" + std::to_string(f.generation) + ":";
}

void require_topology(const redis_url& url, const attachment& a) {
  if (a.shape == form::sharded) {
    if (url.shape == topology::cluster)
      throw parameter_error("--sharded is for independent servers; a cluster spreads its keys by itself");
    return;
  }
  if (url.shape == topology::many)
    throw parameter_error(
        "which of the servers has " + a.key +
        "? Give --store the URL of that one alone, or --sharded if bkdr-php spread it over all");
  const slot_number slot = slot_of(a.cursor);
  if (a.shape == form::growing && url.shape == topology::cluster &&
      (slot != slot_of(growing_key(a, 0)) || slot != slot_of(growing_key(a, 1))))
    throw parameter_error(
        "in a cluster the strings of a growing filter and its cursor must lie in one slot: "
        "give them one hash tag, as in --key {uids} --cursor {uids}:cursor");
}

/// Compares the strings that are there with what they are said to be.
void require_strings(const attachment& a, const std::vector<bitmap>& all, missing_key missing) {
  const bool there = std::ranges::any_of(all, [](const auto& b) { return b.bytes > 0; });
  if (!there && missing == missing_key::refuse)
    throw parameter_error("there is no key " + all.front().place.key +
                          "; check its name, or add --create if the first key added is to make it");
  if (a.shape != form::growing) return;
  for (const auto& b : all)
    if (b.bytes > 0 && 8 * b.bytes != a.how.bits)
      throw parameter_error(b.place.key + " has " + std::to_string(8 * b.bytes) + " bits and not " +
                            std::to_string(a.how.bits) +
                            "; all strings of a growing filter are of one length");
}

/// A string that is not there is empty, so a sign is all that tells a server which lost its data from one
/// that never had any: without one on every server the name is given back.
void put_up_all_signs(session& with, const catalogue& names, const remote_filter& f) {
  try {
    names.put_up_all_signs(with, f);
  } catch (const error&) {
    try {
      names.take_down_signs(with, f.keys.name());
    } catch (const error&) {
      // Who could not take a sign has none.
    }
    remove_header(with, f.keys.header(), std::to_string(f.generation));
    throw;
  }
}

/// Takes the name, by one step.
void take_name(session& with, const catalogue& names, const remote_filter& f, const attachment& a) {
  std::vector<std::string> fields = {"spec", encode(a), "generation", std::to_string(f.generation),
                                     "key",  a.key,     "ready",      std::string(ready)};
  if (!a.cursor.empty()) fields.insert(fields.end(), {"cursor", a.cursor});
  std::ranges::move(names.place_fields(), std::back_inserter(fields));
  const std::string id(reinterpret_cast<const char*>(f.id.data()), f.id.size());
  const auto begun = begin_header(with, {f.keys.header(), 0}, id, fields);
  if (!begun) throw backend_error(begun.error().message);
  if (!*begun) throw filter_exists(f.keys.name());
  if (a.instances > 0)
    put_up_all_signs(with, names, f);
  else
    names.put_up_signs(with, f);
  (void)names.list(with, f);
}

}  // namespace

std::vector<bitmap> attach(session_pool& pool, const catalogue& names, std::string_view name, attachment a,
                           missing_key missing) {
  const redis_url& url = pool.url();
  a.instances = a.shape == form::sharded ? static_cast<std::uint32_t>(url.endpoints.size()) : 0;
  validate(a);
  require_topology(url, a);
  require_gear(url, a);
  const session_pool::lease with = pool.take();
  validate_filter_name(name);
  finish_rename_from(*with, names, name);
  names.require_free(*with, name);
  std::vector<bitmap> all = survey(*with, a);
  require_strings(a, all, missing);
  a.was_there = std::ranges::all_of(all, [](const bitmap& b) { return b.bytes > 0; });
  const remote_filter f = {.keys = names.keys_of(name),
                           .spec = spec_of(a),
                           .id = image::random_filter_id(),
                           .generation = random_generation()};
  take_name(*with, names, f, a);
  return all;
}

std::shared_ptr<attached_filter> open_attached(std::shared_ptr<session_pool> pool, const header& h,
                                               access how) {
  const attachment& a = *h.attached;
  require_topology(pool->url(), a);
  return std::make_shared<attached_filter>(std::move(pool), a, own_names(h.live), how);
}

}  // namespace everseen::redis
