#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/redis/journal/journal_walk.hpp"

#include "test/redis/stored.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {

inline spec judged_by_clients(spec_request request) {
  request.seed = hash_seed{};
  request.judge = judge_kind::client;
  return make_spec(request);
}

/// Bytes of a key in a record.
inline constexpr std::size_t short_key_bytes = sizeof(std::uint64_t);
inline std::size_t key_bytes(const spec& s) {
  return is_short(s.hash) ? short_key_bytes : sizeof(digest);
}

/// Keys whose record is a long one, and fewer whose record is short if digests are.
inline constexpr std::size_t many = long_record_bytes / short_key_bytes + 50;
inline constexpr std::size_t not_many = long_record_bytes / short_key_bytes - 50;

/// A server, and clients like other processes.
class JudgedByClients : public testing::Test {
 protected:
  using direction = test::cutting_proxy::direction;

  explicit JudgedByClients(std::vector<std::string> config = {}) : server_(std::move(config)) {}

  std::shared_ptr<stored_filter> client(const std::string& name = "clicks", access mode = access::write) {
    return store_at(server_.unix_url())->open(name, mode);
  }
  /// A client that reaches the server through a proxy.
  std::shared_ptr<stored_filter> client_by(const test::cutting_proxy& proxy,
                                           const std::string& options = "") {
    return store_at(proxy.url(options))->open("clicks", access::write);
  }
  std::shared_ptr<stored_filter> make(spec_request request, const std::string& name = "clicks") {
    return store_->create(name, judged_by_clients(request));
  }

  filter_keys clicks() { return identity_at(server_, "clicks", {}).keys; }
  /// The key of the state of partition 0.
  std::string state_key() { return clicks().state(0); }
  /// A field of it.
  std::string field(const std::string& name) { return server_.run({"HGET", state_key(), name}); }
  /// The key of a chunk of its journal.
  std::string chunk(std::uint64_t number) { return clicks().chunk(0, number); }
  std::uint64_t length_of(const std::string& key) { return std::stoull(server_.run({"STRLEN", key})); }
  /// Bytes of journal that a new client would read, including those that say where it continues.
  std::uint64_t journal_bytes() {
    const std::uint64_t begin = parse_journal_position(field("begin"))->offset;
    const std::uint64_t end = parse_journal_position(field("end"))->offset;
    std::uint64_t bytes = end % journal_chunk_bytes - begin % journal_chunk_bytes;
    for (auto n = begin / journal_chunk_bytes; n < end / journal_chunk_bytes; ++n)
      bytes += length_of(chunk(n));
    return bytes;
  }
  /// Adds keys until 100 more would extend the journal past the limit for a checkpoint.
  std::vector<digest> fill_to_the_brink(stored_filter& filter, test::random_digests& random,
                                        event_time time = {}) {
    const auto one = random.take(1);
    answered(test::add_keys(filter, one, time));
    const std::uint64_t least = std::max<std::uint64_t>(std::uint64_t{1} << 20, filter.state(0).bytes());
    // In each record 56 bytes are not keys; there are fewer than 10 records.
    auto keys = random.take((least - journal_bytes()) / key_bytes(filter.get_spec()) - 75);
    EXPECT_EQ(fresh_in(test::add_keys(filter, keys, time)), keys.size());
    EXPECT_EQ(field("begin"), to_text(journal_position{}));
    keys.push_back(one.front());
    return keys;
  }

  test::redis_server server_;
  std::shared_ptr<redis_store> store_ = store_at(server_.unix_url());
};

/// Waits until a proxy holds bytes back.
inline void wait_until_held(const test::cutting_proxy& proxy) {
  test::wait_until([&] { return proxy.holds(); }, "the proxy holds bytes back");
}

/// Adds keys in a separate thread.
inline std::future<test::answers> add_beside(stored_filter& filter, std::vector<digest> keys,
                                             event_time time = {}) {
  return std::async(std::launch::async,
                    [&filter, keys = std::move(keys), time] { return test::add_keys(filter, keys, time); });
}

}  // namespace everseen::redis
