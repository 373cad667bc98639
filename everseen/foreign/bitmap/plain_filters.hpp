/// Filters that are one string of Redis and nothing else: go-zero's, and those of C programs.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// go-zero's Redis filter (core/bloom).
///
/// Hash: for probe i = 0 … 13, the first 64 bits of MurmurHash3 x64-128 (seed 0) of the key followed by the
/// one byte i. Position: that number mod m.
///
/// Container: one Redis string in which SETBIT numbers the bits. m is given by the caller and stored nowhere,
/// so readers must know it. go-zero refuses an offset of m or more; positions made here are below m.
///
/// Quality: each probe is an independent hash, so the rate is that of the formula. Fourteen probes are
/// optimal for a rate of 6e-5 at 20 bits a key. With fewer bits they fill the filter too fast; with more
/// bits, more probes would be better. The hash has no secret, so anyone can compute positions.
namespace everseen::foreign::gozero {

inline constexpr unsigned probes = 14;

/// The number behind each probe, before it is reduced to a position.    @pre out.size() <= 256
/// Cost: 10 to 20 ns a probe; a long key is hashed only once. Threads: any.
void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept;

/// @pre bits > 0, out.size() <= 256
void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

}  // namespace everseen::foreign::gozero

/// BKDR hashes, as C programs compute them.
///
/// Hash: h = 0; for each byte of the key h = h · seed + byte in unsigned 32-bit arithmetic; the result is the
/// lower 31 bits of h. Probe i has seed i: 31, 131, 1313, 13131, … (mod 2^32). Position: the hash mod m.
/// Bytes are unsigned; a C program that adds a signed char has other hashes for bytes from 0x80 on.
///
/// Container: one Redis string in which SETBIT numbers the bits. m is stored nowhere.
///
/// Quality: for random keys, as good as the formula says (doc/hashing.md, "How good they are"). Three limits:
/// A hash has 31 bits, so no position reaches 2^31, however large m is. A key of one byte has the same
/// position for all probes. All seeds are odd, and for odd seeds there are pairs of 128-byte keys that agree
/// in every probe, whatever the seeds are: an attacker can construct false positives.
namespace everseen::foreign::bkdr {

inline constexpr unsigned max_probes = 16;
inline constexpr std::uint32_t mask = 0x7FFFFFFF;

/// 31, 131, 1313, 13131, …: the digits 1 3 1 3 …, and 31 before them.    @pre probe < max_probes
[[nodiscard]] constexpr std::uint64_t seed(unsigned probe) noexcept {
  if (probe == 0) return 31;
  std::uint64_t digits = 0;
  for (unsigned i = 0; i < probe + 2; ++i) digits = digits * 10 + (i % 2 == 0 ? 1 : 3);
  return digits;
}

/// The hash with each seed.    @pre out.size() <= max_probes    Cost: 1 ns per byte and probe. Threads: any.
void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept;

/// @pre bits > 0, out.size() <= max_probes
void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

}  // namespace everseen::foreign::bkdr
