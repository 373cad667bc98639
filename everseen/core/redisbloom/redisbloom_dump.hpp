/// The data that BF.SCANDUMP returns and BF.LOADCHUNK accepts: pairs of an iterator and bytes.
///
/// The first pair is (1, header). The bits of the layers follow, oldest layer first, in chunks of at most 16
/// MiB (10 MB in old versions). A chunk never spans two layers. Its iterator is 1 + the bytes of all chunks
/// including itself. BF.SCANDUMP ends with (0, nothing), which is not loaded.
///
/// Header, all little-endian, without gaps:
///     bytes 0–7    keys of the chain            8–11  layers        12–15  flags      16–19  expansion
/// and for each layer 53 bytes:
///     bytes 0–7    bytes                        8–15  bits          16–23  keys
///           24–31  error rate (a double)       32–39  bits a key (a double)
///           40–43  probes                      44–51  capacity         52  log2 of the bits, or 0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "everseen/core/format/announced_filter.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::redisbloom {

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
/// Accepts what RedisBloom accepts, except layers with its 32-bit hash.
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

/// A chain of RedisBloom as a filter of the core, which judges and grows as RedisBloom would, and back.

/// @throws format_error  a layer is not the one that RedisBloom would have made there, so its growth could
/// not be
///         continued
/// @throws parameter_error  its error rate or its probes are beyond what everseen supports
[[nodiscard]] announced_filter filter_of(const announced_chain& chain);

/// A filter without keys has its first layer, with zeros.    @pre s.layout is RedisBloom's
[[nodiscard]] announced_chain chain_of(const spec& s, const partition_state& state);

}  // namespace everseen::redisbloom
