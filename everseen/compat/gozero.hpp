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
/// so a reader has to be told it. go-zero refuses an offset of m or more; positions made here are below m.
///
/// How good: each probe is a hash of its own, so the rate is that of the formula. Fourteen probes are the
/// best for a rate of 6e-5 at 20 bits a key; with fewer bits they fill the filter, with more they could be
/// more. Everybody can compute the positions, since there is no secret.
namespace everseen::compat::gozero {

inline constexpr unsigned probes = 14;

/// The number behind each probe, before it is reduced to a position.    @pre out.size() <= 256
/// Cost: 10 to 20 ns a probe; a long key is hashed but once. Threads: any.
void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept;

/// @pre bits > 0, out.size() <= 256
void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept;

}  // namespace everseen::compat::gozero
