#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// A PHP filter for user ids.
///
/// Hash: for each of the seeds 7, 11, 13, 17, 19, 23, 29: h = 0; for each byte of the key h = seed · h +
/// byte. Position: the lower 26 bits of h. A number that overflows PHP's integers continues as a double.
///
/// Container: one Redis string of 2^26 bits, 8 MiB, in which SETBIT numbers the bits.
///
/// Quality: fit for its purpose, ids of up to 12 digits. For longer keys, doubles lose low bits, and
/// positions become multiples of powers of two. From 30 bytes on, every position of every key is 0, so after
/// one such key all others are called seen. Short ids reach little of the string: with four digits and seed 7
/// no hash exceeds 23,000.
namespace everseen::compat::uid_php {

inline constexpr unsigned probes = 7;
inline constexpr std::uint64_t bits = std::uint64_t{1} << 26;

/// @pre out.size() <= probes    Cost: 1 ns per byte and probe. Threads: any.
void positions(std::string_view key, std::span<std::uint64_t> out) noexcept;

}  // namespace everseen::compat::uid_php
