#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "everseen/foreign/guava/guava.hpp"

/// The stream that BloomFilter.writeTo writes and readFrom reads.
///
///     byte 0       the strategy: 0 mitz_32, 1 mitz_64
///     byte 1       probes, 1 … 255
///     bytes 2–5    words, big-endian, 1 … 2^31 - 1
///     bytes 6–…    the words, 8 bytes each, big-endian; position p is bit p mod 64 of word p / 64,
///                  bit 0 the lowest
///
/// The stream contains neither funnel, expected insertions nor rate; readers must know the funnel. It has no
/// checksum.
namespace everseen::foreign::guava {

inline constexpr std::size_t stream_header_bytes = 6;

[[nodiscard]] std::array<std::byte, stream_header_bytes> encode_header(const shape& s) noexcept;
/// @param bytes  the stream, or at least its header
/// @throws format_error  it is cut off, or has a number that Guava refuses
[[nodiscard]] shape decode_header(std::span<const std::byte> bytes);

/// Converts words of the stream to Redis's bit order, or back: both directions reverse the 64 bits of each
/// word. A stream larger than memory can be converted piece by piece.
/// @pre from.size() == to.size(), a multiple of 8; the two are identical or do not overlap
/// Cost: 3 GB/s in the cache, else limited by page faults (bench/guava_stream_bench.cpp).
void convert_words(std::span<const std::byte> from, std::span<std::byte> out) noexcept;

}  // namespace everseen::foreign::guava
