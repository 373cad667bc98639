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
