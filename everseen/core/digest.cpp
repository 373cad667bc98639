#include "everseen/core/digest.hpp"

#include <sodium.h>

#include "everseen/core/assert.hpp"
#include "everseen/core/bytes.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace everseen {

std::string_view to_string(hash_kind kind) noexcept {
  return kind == hash_kind::xxh3 ? "xxh3" : "siphash";
}

std::optional<hash_kind> parse_hash_kind(std::string_view name) noexcept {
  if (name == "xxh3") return hash_kind::xxh3;
  if (name == "siphash") return hash_kind::siphash;
  return std::nullopt;
}

hash_seed random_hash_seed() {
  hash_seed seed;
  randombytes_buf(seed.data(), seed.size());  // works without sodium_init(); it then opens its own source
  return seed;
}

namespace {

/// XXH3 mixes the seed itself into keys of up to this length; longer ones need the 192 bytes derived from it.
constexpr std::size_t longest_without_secret = XXH3_MIDSIZE_MAX;

/// Equal to XXH3_128bits_withSeed for every length, but the secret of long keys is derived once, not per key.
[[gnu::always_inline]] inline digest xxh3_128(std::string_view key, std::uint64_t seed,
                                              std::span<const std::uint8_t> secret) noexcept {
  const XXH128_hash_t h = key.size() <= longest_without_secret
                              ? XXH3_128bits_withSeed(key.data(), key.size(), seed)
                              : XXH3_128bits_withSecret(key.data(), key.size(), secret.data(), secret.size());
  return {h.low64, h.high64};
}

digest siphash_128(std::string_view key, const hash_seed& seed) noexcept {
  static_assert(crypto_shorthash_siphashx24_KEYBYTES == std::tuple_size_v<hash_seed>);
  std::array<std::uint8_t, crypto_shorthash_siphashx24_BYTES> out;
  crypto_shorthash_siphashx24(out.data(), reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                              seed.data());
  return {load_le64(out.data()), load_le64(out.data() + 8)};
}

}  // namespace

hasher::hasher(hash_kind kind, const hash_seed& seed) noexcept
    : kind_(kind), seed_(seed), seed64_(load_le64(seed.data())) {
  static_assert(secret_bytes == XXH_SECRET_DEFAULT_SIZE);
  XXH3_generateSecret_fromSeed(secret_.data(), seed64_);
}

// Flattened: the compiler finds XXH3 too large to inline, and a call costs twice what hashing a short key
// does.

[[gnu::flatten]] digest hasher::operator()(std::string_view key) const noexcept {
  return kind_ == hash_kind::xxh3 ? xxh3_128(key, seed64_, secret_) : siphash_128(key, seed_);
}

[[gnu::flatten]] void hasher::operator()(std::span<const std::string_view> keys,
                                         std::span<digest> out) const noexcept {
  EVERSEEN_ASSERT(keys.size() == out.size());
  if (kind_ == hash_kind::xxh3) {
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] = xxh3_128(keys[i], seed64_, secret_);
  } else {
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] = siphash_128(keys[i], seed_);
  }
}

}  // namespace everseen
