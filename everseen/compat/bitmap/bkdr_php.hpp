#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "everseen/compat/bitmap/bkdr.hpp"

/// BKDR hashes, as PHP programs compute them.
///
/// Hash: h = 0; for each byte of the key h = ((floatval(h · seed) mod 2^31) + byte) mod 2^31, with the seeds
/// of bkdr.hpp. The product is rounded to a double, which keeps its upper 53 bits, and a product of 2^63 or
/// more is the product of two doubles. Converting it back is modulo 2^64. Position: the hash mod m.
///
/// So the first six seeds give the same hashes as C. From 13131313 on, a product may need more than 53 bits.
/// It loses its low bits, which are the ones that the mask keeps.
///
/// Container: one Redis string in which SETBIT numbers the bits; or shards, below. m is stored nowhere.
///
/// Quality: with 8 probes as for bkdr.hpp. With 16 probes bad: the hashes with the longest seeds depend on
/// little more than the last byte of the key, so these probes are soon set for every key. The rate is then
/// that of fewer probes in a fuller filter. A million keys at 30 bits each have 17 to 50 times the false
/// positives of the formula, at 50 bits 80 to 1000 times: doc/hashing.md, "How good they are", from
/// bench/foreign_rates_bench.cpp.
namespace everseen::compat::bkdr_php {

inline constexpr unsigned max_probes = bkdr::max_probes;

/// The hash with each seed.    @pre out.size() <= max_probes    Cost: 3 ns per byte and probe. Threads: any.
void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept;

/// @pre bits > 0, out.size() <= max_probes
void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

/// The place of a key's bits in a filter that is spread over several Redis instances, and over several
/// strings in each instance. The CRC-32 of the key decides both.
///
/// Both choices use the same number. With 2 instances and 2 partitions, instance 0 never uses partition 1:
/// half of the strings stay empty, and the others hold twice the keys. Positions are mod m, the bits of the
/// whole filter. Since hashes have 31 bits, positions stay in the first 256 MiB of a string.
class shards {
 public:
  /// @param bits  m, of the whole filter    @throws parameter_error  no bits, or no instances
  shards(std::uint64_t bits, std::uint32_t instances);

  /// 1 up to 2^32 bits, else ceil(ceil(m / instances) / 2^32).
  [[nodiscard]] std::uint64_t partitions() const noexcept { return partitions_; }

  struct place {
    std::uint32_t instance = 0;
    std::uint64_t partition = 0;
    friend bool operator==(const place&, const place&) = default;
  };
  [[nodiscard]] place of(std::string_view key) const noexcept;

  /// "NAME.0", "NAME.1", …; numbered even if there is only one.
  [[nodiscard]] static std::string redis_key(std::string_view name, std::uint64_t partition);

 private:
  std::uint32_t instances_;
  std::uint64_t partitions_;
};

}  // namespace everseen::compat::bkdr_php
