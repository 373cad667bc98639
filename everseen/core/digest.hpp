#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/funnel.hpp"

namespace everseen {

/// 128 bits of hash of a key: all that a filter ever looks at.
///
/// A key is hashed once and its digest travels through every layer. `low` chooses the partition and the
/// (first) line, `high` the bits inside it; doc/hashing.md defines each use bit by bit.
struct digest {
  std::uint64_t low;
  std::uint64_t high;
  friend constexpr bool operator==(const digest&, const digest&) = default;
};

/// The hash functions of filters. The values are stored in specs.
///
/// The first two are everseen's own. The others belong to the filters of other systems: they have no secret,
/// so that whoever knows them can make keys that collide.
enum class hash_kind : std::uint8_t {
  xxh3 = 1,     ///< XXH3-128 with a secret 64-bit seed: the fastest, for keys that nobody chooses to hurt you
  siphash = 2,  ///< SipHash-2-4-128 with a secret 128-bit key: for keys chosen by strangers
  murmur3 = 3,  ///< MurmurHash3 x64-128, seed 0: Guava's
  murmur64a = 4,  ///< MurmurHash64A of the key, and again seeded with the first: RedisBloom's
};

/// Whether a seed makes the hash a filter's own.
[[nodiscard]] constexpr bool has_secret_seed(hash_kind kind) noexcept {
  return kind == hash_kind::xxh3 || kind == hash_kind::siphash;
}

[[nodiscard]] std::string_view to_string(hash_kind kind) noexcept;
[[nodiscard]] std::optional<hash_kind> parse_hash_kind(std::string_view name) noexcept;
/// The same, but knows only those of everseen's own filters, which can be chosen.
[[nodiscard]] std::optional<hash_kind> parse_own_hash(std::string_view name) noexcept;

/// The secret that makes a filter's hash its own. XXH3 uses its first 8 bytes, SipHash all 16.
///
/// Who knows it can construct keys that collide, so it is stored with the filter and shown nowhere else.
using hash_seed = std::array<std::uint8_t, 16>;

/// A seed from the operating system's random source. Threads: any.
[[nodiscard]] hash_seed random_hash_seed();

/// Turns keys into digests by one filter's hash and seed.
///
/// Of Guava's filters the key goes through a funnel first, and some funnels take only some keys: numbers,
/// say. A digest of murmur3 is its two words; one of murmur64a has the hash in `low` and the one seeded with
/// it in `high`. Cost: 3-5 ns for a key of up to 16 bytes with xxh3, 10-25 ns with the others. Threads: a
/// const hasher may be used by any number. Source: doc/hashing.md, "Digest".
class hasher {
 public:
  explicit hasher(hash_kind kind, const hash_seed& seed, funnel_kind funnel = funnel_kind::bytes) noexcept;

  /// @throws parameter_error  refusal_of(key): the funnel cannot take it
  [[nodiscard]] digest operator()(std::string_view key) const;

  /// Digests of many keys, in the same order.
  /// @pre out.size() == keys.size()    @throws parameter_error  as above; prefer try_hash where keys may not
  /// fit
  void operator()(std::span<const std::string_view> keys, std::span<digest> out) const;

  /// The digest; nothing where the funnel cannot take the key.
  [[nodiscard]] std::optional<digest> try_hash(std::string_view key) const;
  /// Whether try_hash has a digest for any key.
  [[nodiscard]] bool takes_every_key() const noexcept { return funnel_ == funnel_kind::bytes; }
  /// Why the funnel cannot take a key, for people to read; nothing where it can.
  [[nodiscard]] std::optional<std::string> refusal_of(std::string_view key) const;

  [[nodiscard]] hash_kind kind() const noexcept { return kind_; }

 private:
  /// @param element  the key, or what a funnel made of it
  [[nodiscard]] digest hash(std::string_view element) const noexcept;

  static constexpr std::size_t secret_bytes =
      192;  // what XXH3 derives from its seed for keys beyond 240 bytes

  hash_kind kind_;
  funnel_kind funnel_;
  hash_seed seed_;
  std::uint64_t seed64_;
  alignas(64) std::array<std::uint8_t, secret_bytes> secret_;
};

}  // namespace everseen
