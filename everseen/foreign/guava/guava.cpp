#include "everseen/foreign/guava/guava.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/layout/foreign.hpp"

namespace everseen::foreign::guava {

namespace {

template <typename Positions>
void draw_all(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  Positions drawn(hash, bits);
  for (std::uint64_t& each : out) each = drawn.next();
}

}  // namespace

void positions(strategy algorithm, const digest& hash, std::uint64_t bits,
               std::span<std::uint64_t> out) noexcept {
  if (algorithm == strategy::mitz_32)
    draw_all<draw::guava32_positions>(hash, bits, out);
  else
    draw_all<draw::guava64_positions>(hash, bits, out);
}

shape smallest(strategy algorithm, std::uint64_t expected, double rate) {
  if (!(rate > 0 && rate < 1)) throw parameter_error("an error rate lies between 0 and 1");
  const auto [words, probes] = foreign_sizes::guava_size({expected, rate});
  if (words < 1) throw parameter_error("that error rate needs no bits; ask for a lower one");
  if (words > max_words) throw parameter_error("a Guava filter ends at 2^31 - 1 words; expect fewer keys");
  if (probes > max_probes) throw parameter_error("a Guava filter ends at 255 probes; ask for a higher rate");
  return {algorithm, static_cast<std::uint8_t>(probes), static_cast<std::uint64_t>(words)};
}

std::string redis_strings::key(std::string_view base, std::uint64_t number) {
  return std::string(base) + "-" + std::to_string(number);
}

namespace {

constexpr std::size_t word_bytes = 8;

[[noreturn]] void refuse(const std::string& why) {
  throw format_error("not a Guava filter: " + why);
}

}  // namespace

std::array<std::byte, stream_header_bytes> encode_header(const shape& s) noexcept {
  std::array<std::byte, stream_header_bytes> bytes{};
  bytes[0] = static_cast<std::byte>(s.algorithm);
  bytes[1] = static_cast<std::byte>(s.probes);
  store_le(bytes.data() + 2, __builtin_bswap32(static_cast<std::uint32_t>(s.words)));
  return bytes;
}

shape decode_header(std::span<const std::byte> bytes) {
  if (bytes.size() < stream_header_bytes)
    refuse("it ends after " + std::to_string(bytes.size()) + " of the 6 bytes of its header");
  const auto algorithm = std::to_integer<std::uint8_t>(bytes[0]);
  const auto probes = std::to_integer<std::uint8_t>(bytes[1]);
  const std::uint32_t words = __builtin_bswap32(load_le<std::uint32_t>(bytes.data() + 2));
  if (algorithm > static_cast<std::uint8_t>(strategy::mitz_64))
    refuse("strategy " + std::to_string(algorithm) + " is none of 0 and 1");
  if (probes == 0) refuse("it has no probes");
  if (words == 0 || words > max_words)
    refuse(std::to_string(words) + " words are not between 1 and 2147483647");
  return {static_cast<strategy>(algorithm), probes, words};
}

void convert_words(std::span<const std::byte> from, std::span<std::byte> out) noexcept {
  EVERSEEN_ASSERT(from.size() == out.size() && from.size() % word_bytes == 0);
  for (std::size_t position = 0; position < from.size(); position += word_bytes) {
    const std::uint64_t word = __builtin_bswap64(load_le64(from.data() + position));
    store_le(out.data() + position, bits_of_bytes_reversed(word));
  }
}

}  // namespace everseen::foreign::guava
