/// Guava's BloomFilter, and its bits in Redis.
///
/// Hash: MurmurHash3 x64-128 (seed 0) of the bytes that a funnel makes from the object: funnel.hpp. Its two
/// words are x and y.
///   `mitz_32`  with a and b the lower and the upper half of x: for i = 1 … k the signed 32-bit sum
///              a + i · b, with all bits inverted if it is negative; mod m
///   `mitz_64`  for i = 0 … k-1 the lower 63 bits of x + i · y; mod m
///
/// Container: the stream of BloomFilter.writeTo, below. Or one Redis string in which SETBIT
/// numbers the bits. A Java variant grows: see redis_strings below.
///
/// Quality: `mitz_64`, Guava's default since 2014, has the rate of the formula at every size. `mitz_32`
/// reaches at most 2^31 positions and draws all probes from 64 bits: use it only for existing filters. The
/// growing variant gives each string the whole error rate, so the total rate has no bound.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/foreign.hpp"

namespace everseen::foreign::guava {

/// The values of the stream.
enum class strategy : std::uint8_t { mitz_32 = 0, mitz_64 = 1 };

inline constexpr unsigned max_probes = 255;
inline constexpr std::uint64_t word_bits = 64;
inline constexpr std::uint64_t max_words = foreign_sizes::max_guava_words;  ///< Java's longest array

/// @param hash  murmur3_x64_128 of the element    @pre bits > 0    Threads: any.
void positions(strategy algorithm, const digest& hash, std::uint64_t bits,
               std::span<std::uint64_t> out) noexcept;

/// The parameters of a filter.
struct shape {
  strategy algorithm = strategy::mitz_64;
  std::uint8_t probes = 1;
  std::uint64_t words = 1;  ///< of 64 bits each

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return words * word_bits; }
  friend bool operator==(const shape&, const shape&) = default;
};

/// The shape that BloomFilter.create(funnel, expectedInsertions, fpp) chooses: m = -n ln p / ln²2 rounded up
/// to words, k = max(1, round(m / n · ln 2)).
/// @param expected  insertions; 0 counts as 1    @param rate  in (0, 1)
/// @throws parameter_error  the rate is invalid, or Guava could not create the filter: no bits, or too many
[[nodiscard]] shape smallest(strategy algorithm, std::uint64_t expected, double rate);

/// The growing variant in Redis.
///
/// Strings BASE-0, BASE-1, … of equal size. SETBIT m-1 0 extends each to its full length, so that 8 · STRLEN
/// is m. The key `cursor` holds the number of the newest string as decimal text; if it is missing, the number
/// is 0. All filters of a database share it. A key is present if one string has all its bits. It is added to
/// the newest string. When more than half of the bits of the newest string are set, the cursor is incremented
/// and the next string begins.
namespace redis_strings {

inline constexpr std::string_view cursor_key = "cursor";

[[nodiscard]] std::string key(std::string_view base, std::uint64_t number);

}  // namespace redis_strings

// The stream that BloomFilter.writeTo writes and readFrom reads.
//
//     byte 0       the strategy: 0 mitz_32, 1 mitz_64
//     byte 1       probes, 1 … 255
//     bytes 2–5    words, big-endian, 1 … 2^31 - 1
//     bytes 6–…    the words, 8 bytes each, big-endian; position p is bit p mod 64 of word p / 64,
//                  bit 0 the lowest
//
// The stream contains neither funnel, expected insertions nor rate; readers must know the funnel. It has no
// checksum.

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
