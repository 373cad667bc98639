/// RedisBloom's scalable filter (BF.RESERVE, BF.ADD), as versions 2.0 to 2.8 compute it.
///
/// Hash: a = MurmurHash64A of the key with seed 0xC6A4A7935BD1E995, b = the same with seed a. Position i = 0
/// … k-1: (a + i · b mod 2^64) mod m. Bit p is byte p / 8, mask 1 << p % 8, which is Redis's bit p ^ 7.
///
/// Layers: a layer for n keys at rate p has -ln p / 0.480453013918201 bits a key, times n, rounded down to a
/// bit and then up to 64 bits (in early versions, to 8), and k = ceil(ln 2 · bits a key). The first layer
/// gets half of the requested rate. Each further layer gets half the rate of the previous layer and
/// `expansion` times its keys. A chain that must not grow has one layer with the whole rate.
///
/// Container: the chunks of BF.SCANDUMP and BF.LOADCHUNK: below.
///
/// Quality: the rate of the formula, also through growth. k is rounded up from the optimum, and a look-up
/// tests all layers. Double hashing mod m has a floor of the order of n / m², which only small filters with
/// low rates meet. The hash has no secret.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::redisbloom {

/// @param hash  murmur64a_pair of the key    @pre bits > 0
void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

/// How a chain was created: the flags of its dump.
namespace flags {
inline constexpr std::uint32_t exact_size = 1;  ///< m is not rounded up to a power of two
inline constexpr std::uint32_t wide_hash = 4;   ///< the hash above; without it, an older 32-bit hash
inline constexpr std::uint32_t fixed_size = 8;  ///< NONSCALING
inline constexpr std::uint32_t created = exact_size | wide_hash;  ///< set by BF.RESERVE since 2.0
}  // namespace flags

/// One bit array of a chain: all but its bits, whose low bit of a byte comes first.
struct layer_shape {
  std::uint64_t capacity = 0;  ///< keys
  double error_rate = 0;
  double bits_per_key = 0;
  std::uint32_t probes = 0;
  std::uint8_t log2_bits = 0;  ///< not 0: positions are mod 2^log2_bits (no `exact_size`)
  std::uint64_t keys = 0;
  friend bool operator==(const layer_shape&, const layer_shape&) = default;
};

/// A RedisBloom filter: all but its bits.
struct chain_shape {
  std::uint32_t flags = flags::created;
  std::uint32_t expansion = 2;
  std::uint64_t keys = 0;
  std::vector<layer_shape> layers;  ///< oldest first, at least one

  [[nodiscard]] bool grows() const noexcept { return (flags & flags::fixed_size) == 0; }
};

// The data that BF.SCANDUMP returns and BF.LOADCHUNK accepts: pairs of an iterator and bytes.
//
// The first pair is (1, header). The bits of the layers follow, oldest layer first, in chunks of at most 16
// MiB (10 MB in old versions). A chunk never spans two layers. Its iterator is 1 + the bytes of all chunks
// including itself. BF.SCANDUMP ends with (0, nothing), which is not loaded.
//
// Header, all little-endian, without gaps:
//     bytes 0–7    keys of the chain            8–11  layers        12–15  flags      16–19  expansion
// and for each layer 53 bytes:
//     bytes 0–7    bytes                        8–15  bits          16–23  keys
//           24–31  error rate (a double)       32–39  bits a key (a double)
//           40–43  probes                      44–51  capacity         52  log2 of the bits, or 0

inline constexpr std::size_t max_chunk_bytes = std::size_t{16} << 20;

/// The chain that a header describes. Its layers have no bits yet; `lengths` has the size of each in bytes.
struct announced_chain {
  chain_shape shape;
  std::vector<std::uint64_t> lengths;
};

/// For a chain with this many layers.
[[nodiscard]] constexpr std::size_t header_bytes(std::size_t layers) noexcept {
  return 20 + 53 * layers;
}

[[nodiscard]] std::vector<std::byte> encode_header(const announced_chain& announced);
/// Accepts what RedisBloom accepts, except layers with its 32-bit hash. A chain that may grow and has no
/// expansion gets that of its layers; if there is one alone, it must not grow.
/// @throws parameter_error  it uses the 32-bit hash of versions before 2.0
/// @throws format_error  it is damaged, foreign or contradictory. Its numbers cause no allocation except the
///   list of layers, which is no longer than `header`
[[nodiscard]] announced_chain decode_header(std::span<const std::byte> header);

/// The order of the chunks after a header: where the bytes of each belong.
class chunk_order {
 public:
  explicit chunk_order(std::span<const std::uint64_t> lengths) noexcept : lengths_(lengths) {}

  struct place {
    std::size_t layer = 0;
    std::uint64_t offset = 0;
  };
  /// The place of the next chunk.    @throws format_error  the chunk is not the next one, or does not fit
  [[nodiscard]] place take(std::int64_t iterator, std::uint64_t bytes);

  [[nodiscard]] bool is_complete() const noexcept { return layer_ == lengths_.size(); }
  /// @throws format_error  chunks are missing
  void must_be_complete() const;

 private:
  std::span<const std::uint64_t> lengths_;
  std::size_t layer_ = 0;     // the one being filled
  std::uint64_t offset_ = 0;  // in that layer
  std::uint64_t iterator_ = 1;
};

// A chain of RedisBloom as a filter of the core, which judges and grows as RedisBloom would, and back.

/// @throws format_error  a layer is not the one that RedisBloom would have made there, so its growth could
/// not be
///         continued
/// @throws parameter_error  its error rate or its probes are beyond what everseen supports
[[nodiscard]] announced_filter filter_of(const announced_chain& chain);

/// A filter without keys has its first layer, with zeros.    @pre s.layout is RedisBloom's
[[nodiscard]] announced_chain chain_of(const spec& s, const partition_state& state);

}  // namespace everseen::redisbloom
