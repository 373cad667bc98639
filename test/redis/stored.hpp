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

#include "everseen/redis/redis_store.hpp"

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
  return std::make_shared<redis_store>(std::move(patient));
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

/// The only key that matches.
inline std::string key_like(const test::redis_server& server, const std::string& pattern) {
  const auto keys = keys_like(server, pattern);
  return keys.size() == 1 ? keys.front() : "of the keys like " + pattern + " there is not one";
}

/// The store's knowledge of a filter, for a test that plays the role of the store.
inline filter_identity identity_at(const test::redis_server& server, const std::string& name, const spec& s) {
  const std::string bytes = server.run({"HGET", "everseen:{names}", name});
  image::filter_id id{};
  if (bytes.size() != id.size()) throw std::runtime_error("there is no filter " + name);
  std::ranges::copy(bytes, id.begin());
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

/// As a client leaves it that drops the only filter and crashes after the first step.
inline void begin_drop(const test::redis_server& server, const std::string& name) {
  const filter_identity f = identity_at(server, name, {});
  server.run({"HSET", "everseen:{names}:gone", std::string(f.id.begin(), f.id.end()), ""});
  server.run({"DEL", "everseen:{names}", "everseen:{names}:sign"});
}

/// Why adding these keys failed; empty if it succeeded. None of them may have a verdict.
inline std::optional<batch_failure> failure_of_add(stored_filter& to, std::span<const digest> keys) {
  const test::answers got = test::add_keys(to, keys);
  if (got.result) return {};
  batch_failure failure = got.result.error();
  for (const verdict v : got.verdicts)
    if (v != verdict::unknown) failure.message += " (but a key was called " + std::string(to_string(v)) + ")";
  return failure;
}

inline std::optional<batch_failure> failure_of_check(const stored_filter& in, std::span<const digest> keys) {
  const test::answers got = test::check_keys(in, keys);
  if (got.result) return {};
  batch_failure failure = got.result.error();
  for (const verdict v : got.verdicts)
    if (v != verdict::unknown) failure.message += " (but a key was called " + std::string(to_string(v)) + ")";
  return failure;
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
