#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "everseen/compat/guava.hpp"

/// The stream that BloomFilter.writeTo writes and readFrom reads.
///
///     byte 0       the strategy: 0 mitz_32, 1 mitz_64
///     byte 1       probes, 1 … 255
///     bytes 2–5    words, big-endian, 1 … 2^31 - 1
///     bytes 6–…    the words, 8 bytes each, big-endian; position p is bit p mod 64 of word p / 64, bit 0 the
///     lowest
///
/// Funnel, expected insertions and rate are not in it: a reader has to know the funnel. Nor is there a
/// checksum.
namespace everseen::compat::guava {

inline constexpr std::size_t stream_header_bytes = 6;

[[nodiscard]] std::array<std::byte, stream_header_bytes> encode_header(const shape& s) noexcept;
/// @param bytes  the stream, or at least its header
/// @throws format_error  cut off, or a number that Guava refuses
[[nodiscard]] shape decode_header(std::span<const std::byte> bytes);

/// Turns words of the stream into the bits as Redis numbers them, or back: either way the 64 bits of each
/// word change ends. Readers of a stream that does not fit into memory convert it piece by piece.
/// @pre from.size() == to.size(), a multiple of 8; the two are apart or the same
/// Cost: 3 GB/s in the cache, else as fast as memory gives pages (bench/guava_stream_bench.cpp).
void convert_words(std::span<const std::byte> from, std::span<std::byte> to) noexcept;

[[nodiscard]] std::vector<std::byte> encode(const filter& f);
/// @param stream  from its first byte to its last
/// @throws format_error  as decode_header, or the stream is shorter or longer than its header says; nothing
///                       is allocated before both agree
[[nodiscard]] filter decode(std::span<const std::byte> stream);

}  // namespace everseen::compat::guava
