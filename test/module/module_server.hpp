#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/redis_store.hpp"

#include "test/module/server_facts.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen::redis_module {

/// A filter whose batches the module judges, and nothing else.
inline std::shared_ptr<stored_filter> filter_at(const redis_server& server, const std::string& name,
                                                spec_request request) {
  redis::redis_store store(redis::parse_redis_url(server.unix_url("?commands=module")));
  if (store.exists(name)) return store.open(name, access::write);
  request.seed = hash_seed{};
  return store.create(name, store.plan(request));
}

/// The keys of a filter, found through the index of the server.
inline redis::filter_keys keys_of(const redis_server& server, const std::string& name) {
  const std::string bytes = server.run({"HGET", redis::filter_keys::index("everseen"), name});
  image::filter_id id;
  if (bytes.size() != id.size()) throw std::runtime_error("there is no filter " + name);
  std::ranges::copy(bytes, id.begin());
  return {"everseen", id};
}

/// Of a filter's only partition, or of its partition 0.
inline std::string state_of(const redis_server& server, const std::string& name) {
  return keys_of(server, name).state(0);
}

}  // namespace everseen::redis_module
