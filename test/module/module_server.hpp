#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/redis_store.hpp"

#include "test/support/random_digests.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen::redis_module {

using test::redis_server;

inline std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

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

/// The whole contents of a server, as a number.
inline std::string content(const redis_server& server) {
  return server.run({"DEBUG", "DIGEST"});
}

inline std::string field_of(const redis_server& server, const std::string& section,
                            const std::string& field) {
  const std::string info = server.run({"INFO", section});
  const std::size_t at = info.find("\n" + field + ":");
  if (at == std::string::npos) return "";
  const std::size_t from = at + field.size() + 2;
  return info.substr(from, info.find('\r', from) - from);
}

inline std::string calls_of(const redis_server& server, const std::string& command) {
  const std::string stats = server.run({"INFO", "commandstats"});
  const std::string beginning = "cmdstat_" + command + ":calls=";
  const std::size_t at = stats.find(beginning);
  if (at == std::string::npos) return "0";
  const std::size_t from = at + beginning.size();
  return stats.substr(from, stats.find(',', from) - from);
}

}  // namespace everseen::redis_module
