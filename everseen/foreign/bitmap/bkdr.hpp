#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// BKDR hashes, as C programs compute them.
///
/// Hash: h = 0; for each byte of the key h = h · seed + byte in unsigned 32-bit arithmetic; the result is the
/// lower 31 bits of h. Probe i has seed i: 31, 131, 1313, 13131, … (mod 2^32). Position: the hash mod m.
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
