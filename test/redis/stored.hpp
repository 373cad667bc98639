#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/redis_store.hpp"

#include "test/support/cutting_proxy.hpp"
#include "test/support/opened_job.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen::redis {

using test::opened_job;

/// A store for tests that are not about time: a busy machine may be silent for seconds. What the URL says is
/// as it says.
inline std::shared_ptr<redis_store> store_at(const std::string& url) {
  redis_url patient = parse_redis_url(url);
  if (url.find("&timeout=") == std::string::npos && url.find("?timeout=") == std::string::npos)
    patient.timeout = std::chrono::seconds(60);
  if (url.find("retry_for=") == std::string::npos) patient.retry_for = std::chrono::seconds(120);
  return std::make_shared<redis_store>(std::move(patient), foreign::open_attached);
}

inline std::shared_ptr<store> through_proxy(const test::cutting_proxy& proxy) {
  return store_at(proxy.url());
}

/// As the store plans it, but always with the same hashes.
inline spec planned(const store& in, spec_request request) {
  request.seed = hash_seed{};
  return in.plan(request);
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// All keys of a server that match a pattern of Redis, in order.
inline std::vector<std::string> keys_like(const test::redis_server& server, const std::string& pattern) {
  auto keys = lines_of(server.run({"KEYS", pattern}));
  std::ranges::sort(keys);
  return keys;
}

/// Except tokens, which expire soon.
inline std::vector<std::string> lasting_keys_like(const test::redis_server& server,
                                                  const std::string& pattern) {
  auto keys = keys_like(server, pattern);
  std::erase_if(keys, [](const std::string& key) { return key.find("}:t:") != std::string::npos; });
  return keys;
}

/// The only key that matches.
inline std::string key_like(const test::redis_server& server, const std::string& pattern) {
  const auto keys = keys_like(server, pattern);
  return keys.size() == 1 ? keys.front() : "of the keys like " + pattern + " there is not one";
}

/// The store's knowledge of a filter, for a test that plays the role of the store.
inline filter_identity identity_at(const test::redis_server& server, const std::string& name, const spec& s) {
  const std::string index = filter_keys::index("everseen");
  const image::filter_id id = id_in(server.run({"HGET", index, name}), index);
  return {{"everseen", id}, s, id};
}
/// The key of a filter's header.
inline std::string header_of(const test::redis_server& server, const std::string& name) {
  return identity_at(server, name, {}).keys.header();
}
/// The key of a partition's state.
inline std::string state_of(const test::redis_server& server, const std::string& name,
                            std::uint32_t partition = 0) {
  return identity_at(server, name, {}).keys.state(partition);
}

/// As a client leaves it that drops a filter and crashes after the first step.
inline void begin_drop(const test::redis_server& server, const std::string& name) {
  server_connections connections(parse_redis_url(server.unix_url()));
  if (!name_index("everseen")
           .forget(connections, name, identity_at(server, name, {}).id, name_index::while_asked::no))
    throw std::runtime_error("the name of " + name + " is not removed");
}
/// As a client leaves it that ends a job and crashes after the first step.
/// @return the job's id
inline std::string begin_end_of_job(const test::redis_server& server, const std::string& name,
                                    const std::string& job) {
  const filter_identity f = identity_at(server, name, {});
  server_connections connections(parse_redis_url(server.unix_url()));
  const auto listed = job_list(name, f).find(connections, job);
  if (!listed) throw std::runtime_error("there is no job " + job);
  server.run({"HSET", job_keys::gone(f.keys), listed->id, ""});
  server.run({"HDEL", job_keys::list(f.keys), job});
  return listed->id;
}
/// As if its time had passed.
inline void let_expire(const test::redis_server& server, const std::string& name) {
  if (server.run({"HSET", header_of(server, name), "expires_at", "1"}).size() != 1)
    throw std::runtime_error("the header of " + name + " is no hash");
}

/// Why a call failed; nothing if it succeeded. None of its keys may have a verdict.
inline std::optional<batch_failure> failure_in(const test::answers& all) {
  if (all.result) return {};
  batch_failure failure = all.result.error();
  for (const verdict v : all.verdicts)
    if (v != verdict::unknown) failure.message += " (but a key was called " + std::string(to_string(v)) + ")";
  return failure;
}
inline std::optional<batch_failure> failure_of_add(stored_filter& filter, std::span<const digest> keys) {
  return failure_in(test::add_keys(filter, keys));
}
inline std::optional<batch_failure> failure_of_check(const stored_filter& in, std::span<const digest> keys) {
  return failure_in(test::check_keys(in, keys));
}

/// "5 fresh", "5 seen" where all were alike; otherwise the error, or every number.
inline std::string outcome(const test::answers& got) {
  if (!got.result) return got.result.error().message;
  const tally& t = *got.result;
  const std::size_t all = got.verdicts.size();
  if (t.fresh == all) return std::to_string(all) + " fresh";
  if (t.seen == all) return std::to_string(all) + " seen";
  return std::to_string(t.fresh) + " fresh, " + std::to_string(t.seen) + " seen, " + std::to_string(t.late) +
         " late, " + std::to_string(t.unknown) + " unknown";
}

/// The message of an exception; empty if there was none.
template <typename Error, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace everseen::redis
