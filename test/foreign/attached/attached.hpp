#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/foreign/attached/attached_filter.hpp"
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/redis/redis_store.hpp"

#include "test/redis/stored.hpp"

namespace everseen::foreign {

using redis::identity_at;
using redis::key_like;
using redis::keys_like;
using redis::message_of;
using redis::redis_store;
using redis::store_at;

/// The parameters of an attached filter of a family, with a size that tests can fill.
inline attachment attachment_to(std::string key, family which, std::uint64_t bits = 100'003,
                                unsigned probes = 0) {
  const family_facts& facts = foreign::facts(which);
  attachment a{
      {which, facts.fixed_bits != 0 ? facts.fixed_bits : bits, probes != 0 ? probes : facts.standard_probes}};
  a.key = std::move(key);
  return a;
}

inline attachment growing(std::string base, std::uint64_t bits, unsigned probes) {
  attachment a = attachment_to(std::move(base), family::guava64, bits, probes);
  a.shape = attachment::form::growing;
  a.cursor = "cursor";
  return a;
}

inline attachment sharded(std::string name, std::uint64_t bits, unsigned probes = 4) {
  attachment a = attachment_to(std::move(name), family::bkdr_php, bits, probes);
  a.shape = attachment::form::sharded;
  return a;
}

inline filter attached(redis_store& in, const std::string& name, const attachment& a,
                       missing_key missing = missing_key::create) {
  attach(in.servers(), name, a, missing);
  return {name, in.open(name, access::write)};
}

inline const attached_filter& behind(const filter& f) {
  return dynamic_cast<const attached_filter&>(f.stored());
}

/// The id of a filter, in the digits that its keys contain.
inline std::string id_at(const test::redis_server& server, const std::string& name) {
  return identity_at(server, name, {}).keys.id();
}

/// Keys of any bytes and lengths.
inline std::vector<std::string> random_keys(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  while (keys.size() < count) {
    std::string key;
    for (std::uint64_t length = 4 + random() % 30; length > 0; --length) key += static_cast<char>(random());
    keys.push_back(std::move(key));
  }
  return keys;
}

inline std::vector<std::string_view> views_of(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

inline test::answers add_to(filter& f, const std::vector<std::string>& keys) {
  std::vector<verdict> out(keys.size());
  batch_result result = f.add(views_of(keys), out);
  return {out, std::move(result)};
}

inline test::answers look_in(const filter& f, const std::vector<std::string>& keys) {
  std::vector<verdict> out(keys.size());
  batch_result result = f.may_contain(views_of(keys), out);
  return {out, std::move(result)};
}

/// A bit array as long as its last bit needs, like a Redis string.
class naive_string {
 public:
  explicit naive_string(std::string bytes = {}) : bytes_(std::move(bytes)) {}

  /// Whether it was set before.
  bool set(std::uint64_t p) {
    if (bytes_.size() <= p / 8) bytes_.resize(p / 8 + 1);
    const auto mask = static_cast<char>(0x80U >> (p % 8));
    const bool was = (bytes_[p / 8] & mask) != 0;
    bytes_[p / 8] = static_cast<char>(bytes_[p / 8] | mask);
    return was;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// A filter of another program, in memory.
class naive_bits {
 public:
  explicit naive_bits(scheme hashing, std::string set = {})
      : hashing_(hashing), positions_(hashing.probes), string_(std::move(set)) {}

  verdict add(std::string_view key) {
    positions(hashing_, key, positions_);
    bool all = true;
    for (const std::uint64_t p : positions_) {
      all = string_.set(p) && all;
    }
    return all ? verdict::seen : verdict::fresh;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return string_.bytes(); }

 private:
  scheme hashing_;
  std::vector<std::uint64_t> positions_;
  naive_string string_;
};

/// The rule of the Java version: before an insert the next bitmap begins if more than half of the bits of the
/// current bitmap are set. A key that an older bitmap has is not inserted.
class naive_chain {
 public:
  explicit naive_chain(const attachment& a) : hashing_(a.hashing) {}

  verdict add(std::string_view key) {
    if (2 * chain_.back().size() > hashing_.bits) chain_.emplace_back();
    std::vector<std::uint64_t> positions(hashing_.probes);
    foreign::positions(hashing_, key, positions);
    for (const auto& bits : chain_)
      if (std::ranges::all_of(positions, [&](std::uint64_t p) { return bits.contains(p); }))
        return verdict::seen;
    chain_.back().insert(positions.begin(), positions.end());
    return verdict::fresh;
  }
  [[nodiscard]] std::size_t newest() const noexcept { return chain_.size() - 1; }
  [[nodiscard]] std::size_t bits_of(std::size_t i) const { return chain_[i].size(); }

 private:
  scheme hashing_;
  std::vector<std::set<std::uint64_t>> chain_{1};
};

/// Another program on the same key: one SETBIT for each bit.
inline void add_as_original(const test::redis_server& server, const attachment& a, std::string_view key) {
  std::vector<std::uint64_t> positions(a.hashing.probes);
  foreign::positions(a.hashing, key, positions);
  for (const std::uint64_t p : positions) server.run({"SETBIT", a.key, std::to_string(p), "1"});
}

inline bool is_known_to_original(const test::redis_server& server, const attachment& a,
                                 std::string_view key) {
  std::vector<std::uint64_t> positions(a.hashing.probes);
  foreign::positions(a.hashing, key, positions);
  return std::ranges::all_of(positions, [&](std::uint64_t p) {
    return server.run({"GETBIT", a.key, std::to_string(p)}) == "1";
  });
}

}  // namespace everseen::foreign
