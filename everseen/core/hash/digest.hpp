#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/hash/funnel.hpp"

namespace everseen {

/// The 128-bit hash of a key, which is all that a filter ever uses of it.
///
/// A key is hashed once; every layer uses its digest. `low` selects the partition and the (first) line,
/// `high` the bits inside the line; doc/hashing.md defines each use bit by bit.
struct digest {
  std::uint64_t low;
  std::uint64_t high;
  friend constexpr bool operator==(const digest&, const digest&) = default;
};

/// The hash functions of filters. The values are stored in specs.
///
/// xxh3, siphash and xxh3_64 are everseen's own. The others belong to other systems: they have no secret, so
/// an attacker can construct colliding keys.
enum class hash_kind : std::uint8_t {
  xxh3 = 1,       ///< XXH3-128 with a secret 64-bit seed: fastest, for trusted keys
  siphash = 2,    ///< SipHash-2-4-128 with a secret 128-bit key: for untrusted keys
  murmur3 = 3,    ///< MurmurHash3 x64-128, seed 0: Guava
  murmur64a = 4,  ///< MurmurHash64A of the key, then again with that hash as the seed: RedisBloom
  xxh3_64 = 5,    ///< XXH3-64 with the seed of xxh3, lengthened(): keys take 8 bytes on their way to others
};

/// What is known of a hash function besides its code.
struct hash_facts {
  hash_kind kind;
  const char* name;
  const char* word;        ///< of EVERSEEN.RESERVE, by which users ask for it; null if they cannot
  std::size_t seed_bytes;  ///< the first bytes of the filter's secret seed that it uses; 0: it has no secret
  bool is_own;             ///< for everseen's own filters; else for other systems'
  bool is_short;           ///< `high` of every digest follows from `low`

  [[nodiscard]] constexpr bool may_be_asked() const noexcept { return word != nullptr; }
};

/// In the order of their numbers.
inline constexpr std::array all_hashes = {
    hash_facts{hash_kind::xxh3, "xxh3", "XXH3", 8, true, false},
    hash_facts{hash_kind::siphash, "siphash", "SIPHASH", 16, true, false},
    hash_facts{hash_kind::murmur3, "murmur3", nullptr, 0, false, false},
    hash_facts{hash_kind::murmur64a, "murmur64a", nullptr, 0, false, false},
    hash_facts{hash_kind::xxh3_64, "xxh3-64", nullptr, 8, true, true},
};

/// Nothing for a number that is not a kind's, as damaged data may have.
[[nodiscard]] constexpr const hash_facts* facts_of(hash_kind kind) noexcept {
  for (const hash_facts& f : all_hashes)
    if (f.kind == kind) return &f;
  return nullptr;
}

/// Whether everseen's own filters may have the hash.
[[nodiscard]] constexpr bool is_own(hash_kind kind) noexcept {
  const hash_facts* const f = facts_of(kind);
  return f != nullptr && f->is_own;
}

/// Whether the hash uses the secret seed of its filter.
[[nodiscard]] constexpr bool has_secret_seed(hash_kind kind) noexcept {
  const hash_facts* const f = facts_of(kind);
  return f != nullptr && f->seed_bytes > 0;
}

/// Whether `high` of every digest follows from `low`.
[[nodiscard]] constexpr bool is_short(hash_kind kind) noexcept {
  const hash_facts* const f = facts_of(kind);
  return f != nullptr && f->is_short;
}

/// Whether a filter with the hash `has` is one that a user asked for by `asked`: xxh3 may have either length.
[[nodiscard]] constexpr bool is_as_asked(hash_kind has, hash_kind asked) noexcept {
  return has == asked || (has == hash_kind::xxh3_64 && asked == hash_kind::xxh3);
}

/// The digest of a short hash: `high` is the output of SplitMix64 at `low`. That is a bijection each of whose
/// output bits depends on all input bits, so within one line, where all keys share the top bits of `low`,
/// patterns are as good as random. Source: doc/hashing.md, "Digest".
[[nodiscard]] constexpr digest lengthened(std::uint64_t low) noexcept {
  std::uint64_t x = low + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return {low, x ^ (x >> 31)};
}

[[nodiscard]] std::string_view to_string(hash_kind kind) noexcept;
[[nodiscard]] std::optional<hash_kind> parse_hash_kind(std::string_view name) noexcept;
/// The same, but accepts only hashes that a user may ask for.
[[nodiscard]] std::optional<hash_kind> parse_asked_hash(std::string_view name) noexcept;
/// The names of these, for texts.
[[nodiscard]] std::string asked_hash_names(std::string_view separator);

/// The secret seed of a filter's hash. XXH3 uses its first 8 bytes, SipHash all 16.
///
/// Anyone who knows it can construct colliding keys. It is stored with the filter, and copies of the filter
/// have it: exports, DUMP, BF.SCANDUMP. `serve` gives it to users with the right `admin` alone.
using hash_seed = std::array<std::uint8_t, 16>;

/// A seed from the operating system's random source. Threads: any.
[[nodiscard]] hash_seed random_hash_seed();

/// Computes the digests of keys with one filter's hash and seed.
///
/// For Guava's filters, a key first passes through a funnel. Some funnels accept only some keys, for example
/// numbers. A digest of murmur3 consists of its two words; one of murmur64a has the hash in `low` and the
/// hash seeded with it in `high`. Cost: 3-5 ns for a key of up to 16 bytes with xxh3, 10-25 ns with the
/// others. Threads: any number may use a const hasher. Source: doc/hashing.md, "Digest".
class hasher {
 public:
  explicit hasher(hash_kind kind, const hash_seed& seed, funnel_kind funnel = funnel_kind::bytes) noexcept;

  /// @throws parameter_error  the funnel cannot take the key; the text is refusal_of(key)
  [[nodiscard]] digest operator()(std::string_view key) const;

  /// Digests of many keys, in the same order.
  /// @pre out.size() == keys.size()    @throws parameter_error  as above; use try_hash if keys may not fit
  void operator()(std::span<const std::string_view> keys, std::span<digest> out) const;

  /// The digest; nothing if the funnel cannot take the key.
  [[nodiscard]] std::optional<digest> try_hash(std::string_view key) const;
  /// Whether try_hash has a digest for every key.
  [[nodiscard]] bool takes_every_key() const noexcept { return funnel_ == funnel_kind::bytes; }
  /// The reason, as readable text, why the funnel cannot take a key; nothing if it can.
  [[nodiscard]] std::optional<std::string> refusal_of(std::string_view key) const;

  [[nodiscard]] hash_kind kind() const noexcept { return kind_; }

 private:
  /// @param element  the key, or the output of a funnel
  [[nodiscard]] digest hash(std::string_view element) const noexcept;

  static constexpr std::size_t secret_bytes = 192;  // derived from the seed, for keys over 240 bytes

  hash_kind kind_;
  funnel_kind funnel_;
  hash_seed seed_;
  std::uint64_t seed64_;
  alignas(64) std::array<std::uint8_t, secret_bytes> secret_;
};

}  // namespace everseen
