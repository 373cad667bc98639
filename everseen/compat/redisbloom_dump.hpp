#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "everseen/compat/redisbloom.hpp"

/// What BF.SCANDUMP gives out and BF.LOADCHUNK takes in: pairs of an iterator and bytes.
///
/// The first pair is (1, header). Then come the bits of the layers, oldest first, each in chunks that do not
/// cross from one layer to the next, of at most 16 MiB (10 MB in old versions); a chunk's iterator is 1 + the
/// bytes of all chunks up to its own end. BF.SCANDUMP says that it is done by (0, nothing), which is not
/// loaded.
///
/// Header, all little-endian, without gaps:
///     bytes 0–7    keys of the chain            8–11  layers        12–15  flags      16–19  expansion
/// and for each layer 53 bytes:
///     bytes 0–7    bytes                        8–15  bits          16–23  keys
///           24–31  error rate (a double)       32–39  bits a key (a double)
///           40–43  probes                      44–51  capacity         52  log2 of the bits, or 0
namespace everseen::compat::redisbloom {

struct chunk {
  std::int64_t iterator = 0;
  std::span<const std::byte> data;
};

inline constexpr std::size_t max_chunk_bytes = std::size_t{16} << 20;

/// What a header says of a chain. Its layers have no bits yet; `lengths` is how many bytes each will have.
struct announced_chain {
  chain of;
  std::vector<std::uint64_t> lengths;
};

/// Of a chain with so many layers.
[[nodiscard]] constexpr std::size_t header_bytes(std::size_t layers) noexcept {
  return 20 + 53 * layers;
}

[[nodiscard]] std::vector<std::byte> encode_header(const announced_chain& announced);
/// Takes what RedisBloom takes, but for layers of its 32-bit hash.
/// @throws parameter_error  its hash is that one, which versions before 2.0 had
/// @throws format_error  damaged, foreign, or numbers that contradict each other; nothing is allocated from
///                       them but the list of layers, which is no longer than `header`
[[nodiscard]] announced_chain decode_header(std::span<const std::byte> header);

/// The order of the chunks behind a header: where the bytes of each belong.
class chunk_order {
 public:
  explicit chunk_order(std::span<const std::uint64_t> lengths) noexcept : lengths_(lengths) {}

  struct place {
    std::size_t layer = 0;
    std::uint64_t offset = 0;
  };
  /// The place of the next chunk.    @throws format_error  it is none, or does not fit there
  [[nodiscard]] place take(std::int64_t iterator, std::uint64_t bytes);

  [[nodiscard]] bool is_complete() const noexcept { return layer_ == lengths_.size(); }
  /// @throws format_error  chunks are missing
  void must_be_complete() const;

 private:
  std::span<const std::uint64_t> lengths_;
  std::size_t layer_ = 0;     // the one that is being filled
  std::uint64_t offset_ = 0;  // in it
  std::uint64_t iterator_ = 1;
};

/// Takes a chain apart. The chain must stay as it is meanwhile.
class dumper {
 public:
  explicit dumper(const chain& from, std::size_t chunk_bytes = max_chunk_bytes);

  /// The next pair, its bytes valid as long as the chain and this; nothing behind the last.
  [[nodiscard]] std::optional<chunk> next();

 private:
  const chain& from_;
  std::size_t chunk_bytes_;
  std::vector<std::byte> header_;
  bool begun_ = false;
  std::size_t layer_ = 0;
  std::size_t at_ = 0;  // inside the layer
  std::int64_t iterator_ = 1;
};

/// Puts a chain together from pairs in the order of their dump, and believes nothing that does not fit.
/// Memory is asked for as bytes arrive, never by a number in the header.
class loader {
 public:
  /// @throws format_error  damaged, foreign, out of order, or too long; nothing can be loaded after that
  void load(std::int64_t iterator, std::span<const std::byte> data);

  [[nodiscard]] bool is_complete() const noexcept;

  /// The chain, once.    @throws format_error  chunks are missing
  [[nodiscard]] chain finish();

 private:
  announced_chain into_;
  std::optional<chunk_order> order_;
};

}  // namespace everseen::compat::redisbloom
