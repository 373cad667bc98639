#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"

/// RedisBloom's filter in memory, written after its source and compared with recorded answers of the
/// original: what everseen's filters of this layout must agree with.
namespace everseen::redisbloom {

/// One bit array of a chain.
struct layer : layer_shape {
  std::vector<std::byte> bits;  ///< the low bit of a byte comes first

  /// m, the number that positions are reduced by.
  [[nodiscard]] std::uint64_t modulus() const noexcept {
    return log2_bits > 0 ? std::uint64_t{1} << log2_bits : 8 * std::uint64_t{bits.size()};
  }
  [[nodiscard]] bool may_contain(const digest& hash) const noexcept;
  /// @return whether a bit changed
  bool add(const digest& hash) noexcept;
  friend bool operator==(const layer&, const layer&) = default;
};

/// The arguments of BF.RESERVE.
struct request {
  double error_rate = 0.01;
  std::uint64_t capacity = 100;
  std::uint32_t expansion = 2;
  bool grows = true;
};

/// A RedisBloom filter in memory. Threads: as a container of the standard library.
struct chain {
  std::uint32_t flags = flags::created;
  std::uint32_t expansion = 2;
  std::uint64_t keys = 0;
  std::vector<layer> layers;  ///< oldest first, at least one

  /// @throws parameter_error  a rate outside (0, 1), no keys, no expansion, or more than 2^62 bits
  [[nodiscard]] static chain reserve(const request& asked);

  [[nodiscard]] bool grows() const noexcept { return (flags & flags::fixed_size) == 0; }
  [[nodiscard]] bool may_contain(std::string_view key) const noexcept;
  /// A full layer is followed by one for capacity · expansion keys, which is allocated here. Check both
  /// numbers of an untrusted chain first.
  /// @return `fresh` or `seen`, where BF.ADD answers 1 or 0
  /// @throws full_error       the chain is full and must not grow; BF.ADD answers with an error
  /// @throws parameter_error  the next layer would have more than 2^62 bits
  verdict add(std::string_view key);
  friend bool operator==(const chain&, const chain&) = default;
};

struct chunk {
  std::int64_t iterator = 0;
  std::span<const std::byte> data;
};

/// Splits a chain into pairs. The chain must not change meanwhile.
class dumper {
 public:
  explicit dumper(const chain& from, std::size_t chunk_bytes = max_chunk_bytes);

  /// The next pair, valid as long as the chain and this; nothing after the last.
  [[nodiscard]] std::optional<chunk> next();

 private:
  const chain& from_;
  std::size_t chunk_bytes_;
  std::vector<std::byte> header_;
  bool begun_ = false;
  std::size_t layer_ = 0;
  std::size_t in_layer_ = 0;  // in the layer
  std::int64_t iterator_ = 1;
};

/// Rebuilds a chain from the pairs of its dump, and rejects anything inconsistent. Memory is allocated as
/// bytes arrive, never from a number in the header.
class loader {
 public:
  /// @throws format_error  damaged, foreign, out of order, or too long; load nothing more after that
  void load(std::int64_t iterator, std::span<const std::byte> data);

  [[nodiscard]] bool is_complete() const noexcept;

  /// Moves the chain out.    @throws format_error  chunks are missing
  [[nodiscard]] chain finish();

 private:
  announced_chain into_;
  std::vector<std::vector<std::byte>> bits_;
  std::optional<chunk_order> order_;
};

}  // namespace everseen::redisbloom
