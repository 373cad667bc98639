#include "everseen/core/hash/digest.hpp"

#include <algorithm>
#include <string>

#include <sodium.h>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/hash/murmur.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace everseen {

std::string_view to_string(hash_kind kind) noexcept {
  const hash_facts* const f = facts_of(kind);
  return f != nullptr ? f->name : "invalid";
}

std::optional<hash_kind> parse_hash_kind(std::string_view name) noexcept {
  for (const hash_facts& f : all_hashes)
    if (f.name == name) return f.kind;
  return std::nullopt;
}

std::optional<hash_kind> parse_asked_hash(std::string_view name) noexcept {
  const auto kind = parse_hash_kind(name);
  return kind && facts_of(*kind)->may_be_asked() ? kind : std::nullopt;
}

std::string asked_hash_names(std::string_view separator) {
  std::string names;
  for (const hash_facts& f : all_hashes) {
    if (!f.may_be_asked()) continue;
    if (!names.empty()) names += separator;
    names += f.name;
  }
  return names;
}

hash_seed random_hash_seed() {
  hash_seed seed;
  randombytes_buf(seed.data(), seed.size());  // works without sodium_init(): it opens its own source
  return seed;
}

namespace {

/// XXH3 mixes the seed itself into keys of up to this length; longer keys need the 192 bytes derived from it.
constexpr std::size_t longest_without_secret = XXH3_MIDSIZE_MAX;

/// Equal to XXH3_128bits_withSeed for every length, but derives the secret of long keys once, not per key.
[[gnu::always_inline]] inline digest xxh3_128(std::string_view key, std::uint64_t seed,
                                              std::span<const std::uint8_t> secret) noexcept {
  const XXH128_hash_t h = key.size() <= longest_without_secret
                              ? XXH3_128bits_withSeed(key.data(), key.size(), seed)
                              : XXH3_128bits_withSecret(key.data(), key.size(), secret.data(), secret.size());
  return {h.low64, h.high64};
}

[[gnu::always_inline]] inline digest xxh3_64(std::string_view key, std::uint64_t seed,
                                             std::span<const std::uint8_t> secret) noexcept {
  return lengthened(key.size() <= longest_without_secret
                        ? XXH3_64bits_withSeed(key.data(), key.size(), seed)
                        : XXH3_64bits_withSecret(key.data(), key.size(), secret.data(), secret.size()));
}

digest siphash_128(std::string_view key, const hash_seed& seed) noexcept {
  static_assert(crypto_shorthash_siphashx24_KEYBYTES == std::tuple_size_v<hash_seed>);
  std::array<std::uint8_t, crypto_shorthash_siphashx24_BYTES> out;
  crypto_shorthash_siphashx24(out.data(), reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                              seed.data());
  return {load_le64(out.data()), load_le64(out.data() + 8)};
}

/// The hashes of other systems. Not inlined, so that the code of everseen's own hashes stays small.
[[gnu::noinline]] digest murmur_128(std::string_view element, hash_kind kind) noexcept {
  return kind == hash_kind::murmur3 ? murmur3_x64_128(element) : murmur64a_pair(element);
}

/// Output of the funnel; one per thread, so that keys cause no allocation.
std::string& element_of_thread() {
  thread_local std::string element;
  return element;
}

}  // namespace

hasher::hasher(hash_kind kind, const hash_seed& seed, funnel_kind funnel) noexcept
    : kind_(kind), funnel_(funnel), seed_(seed), seed64_(load_le64(seed.data())) {
  static_assert(secret_bytes == XXH_SECRET_DEFAULT_SIZE);
  XXH3_generateSecret_fromSeed(secret_.data(), seed64_);
}

// Flattened: the compiler considers XXH3 too large to inline, and a call costs twice as much as hashing a
// short key.

[[gnu::flatten]] digest hasher::hash(std::string_view element) const noexcept {
  switch (kind_) {
    case hash_kind::xxh3:
      return xxh3_128(element, seed64_, secret_);
    case hash_kind::siphash:
      return siphash_128(element, seed_);
    case hash_kind::xxh3_64:
      return xxh3_64(element, seed64_, secret_);
    case hash_kind::murmur3:
    case hash_kind::murmur64a:
      break;
  }
  return murmur_128(element, kind_);
}

[[gnu::flatten]] digest hasher::operator()(std::string_view key) const {
  if (takes_every_key()) return hash(key);
  std::string& element = element_of_thread();
  apply_funnel(funnel_, key, element);
  return hash(element);
}

namespace {

/// XXH3 has a way of its own for keys of up to 8, of up to 16 and of more bytes. Where lengths vary, the
/// processor guesses wrong at every other key, which costs as much as hashing it. So each way takes its keys
/// of a few hundred in a row; they are sorted without a branch.
template <digest (*hash_one)(std::string_view, std::uint64_t, std::span<const std::uint8_t>) noexcept>
[[gnu::always_inline]] inline void hash_by_length(std::span<const std::string_view> keys,
                                                  std::span<digest> out, std::uint64_t seed,
                                                  std::span<const std::uint8_t> secret) {
  constexpr std::size_t at_once = 256;
  std::array<std::uint8_t, at_once> shortest, middle, longest;  // their indexes
  for (std::size_t begin = 0; begin < keys.size(); begin += at_once) {
    const std::size_t n = std::min(at_once, keys.size() - begin);
    const std::string_view* const some = keys.data() + begin;
    digest* const digests = out.data() + begin;
    std::size_t shortests = 0, middles = 0, longests = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t length = some[i].size();
      shortest[shortests] = middle[middles] = longest[longests] = static_cast<std::uint8_t>(i);
      shortests += std::size_t{length <= 8};
      middles += std::size_t{length > 8} & std::size_t{length <= 16};
      longests += std::size_t{length > 16};
    }
    const auto hash_each = [&](std::span<const std::uint8_t> indexes) {
      for (const std::uint8_t i : indexes) digests[i] = hash_one(some[i], seed, secret);
    };
    hash_each(std::span(shortest).first(shortests));
    hash_each(std::span(middle).first(middles));
    hash_each(std::span(longest).first(longests));
  }
}

}  // namespace

[[gnu::flatten]] void hasher::operator()(std::span<const std::string_view> keys,
                                         std::span<digest> out) const {
  EVERSEEN_ASSERT(keys.size() == out.size());
  if (kind_ == hash_kind::xxh3 && takes_every_key()) {
    hash_by_length<xxh3_128>(keys, out, seed64_, secret_);
  } else if (kind_ == hash_kind::xxh3_64 && takes_every_key()) {
    hash_by_length<xxh3_64>(keys, out, seed64_, secret_);
  } else {
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] = (*this)(keys[i]);
  }
}

std::optional<digest> hasher::try_hash(std::string_view key) const {
  if (takes_every_key()) return hash(key);
  std::string& element = element_of_thread();
  if (!try_funnel(funnel_, key, element)) return std::nullopt;
  return hash(element);
}

std::optional<std::string> hasher::refusal_of(std::string_view key) const {
  if (try_funnel(funnel_, key, element_of_thread())) return std::nullopt;
  return funnel_refusal(funnel_, key);
}

}  // namespace everseen
