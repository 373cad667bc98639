#include "everseen/foreign/bitmap/redisson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::foreign::redisson {

std::string config_key(std::string_view name) {
  const std::string own(name);
  return (name.find('{') == std::string_view::npos ? "{" + own + "}" : own) + ":config";
}

digest hash(std::string_view key) noexcept {
  constexpr std::array<std::uint64_t, 4> fixed_key = {0x9e3779b97f4a7c15, 0xf39cc0605cedc834,
                                                      0x1082276bf3a27251, 0xf86c6a11d0c18e95};
  return highway_hash_128(fixed_key, key);
}

void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  constexpr std::uint64_t never_negative = ~std::uint64_t{0} >> 1;
  std::uint64_t position = hash.low;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = (position & never_negative) % bits;
    position += i % 2 == 0 ? hash.high : hash.low;
  }
}

shape smallest(std::uint64_t expected, double rate) {
  if (!(rate > 0 && rate < 1)) throw parameter_error("an error rate lies between 0 and 1");
  if (expected == 0) throw parameter_error("Redisson makes no filter for no keys; expect at least one");
  const auto n = static_cast<double>(expected);
  const double bits = std::floor(-n * std::log(rate) / (std::numbers::ln2 * std::numbers::ln2));
  if (bits < 1) throw parameter_error("that error rate needs no bits; ask for a lower one");
  if (bits > static_cast<double>(max_bits))
    throw parameter_error("a filter of Redisson ends at 4294967294 bits; expect fewer keys");
  const double probes = std::max(1.0, std::floor(bits / n * std::numbers::ln2 + 0.5));
  return {static_cast<std::uint64_t>(bits), static_cast<unsigned>(probes)};
}

}  // namespace everseen::foreign::redisson

namespace everseen::foreign {

namespace {

constexpr std::size_t packet_bytes = 32;
using lanes = std::array<std::uint64_t, 4>;

constexpr lanes first_multipliers = {0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344,
                                     0x243f6a8885a308d3};
constexpr lanes second_multipliers = {0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c,
                                      0x452821e638d01377};

constexpr std::uint64_t halves_swapped(std::uint64_t word) noexcept {
  return word >> 32 | word << 32;
}

/// Both halves, each turned left by itself.    @pre 0 < bits < 32
constexpr std::uint64_t halves_rotated(std::uint64_t word, unsigned bits) noexcept {
  const auto rotated = [bits](std::uint64_t half) {
    return (half << bits | half >> (32 - bits)) & 0xFFFFFFFF;
  };
  return rotated(word >> 32) << 32 | rotated(word & 0xFFFFFFFF);
}

/// Byte `from` of the 16 bytes of two words becomes byte `target` of one.
constexpr std::uint64_t moved(std::uint64_t low, std::uint64_t high, unsigned from,
                              unsigned target) noexcept {
  const std::uint64_t word = from < 8 ? low : high;
  return (word >> (8 * (from % 8)) & 0xFF) << (8 * target);
}

/// Adds the bytes of two words in another order, so that the bytes which depend on the most bits of the
/// products become the factors of the next multiplication.
void add_zipped(std::uint64_t low, std::uint64_t high, std::uint64_t& to_low,
                std::uint64_t& to_high) noexcept {
  constexpr std::array<unsigned, 8> for_low = {3, 12, 2, 5, 14, 1, 15, 0};
  constexpr std::array<unsigned, 8> for_high = {11, 4, 10, 13, 9, 6, 8, 7};
  std::uint64_t first = 0, second = 0;
  for (unsigned target = 0; target < 8; ++target) {
    first |= moved(low, high, for_low[target], target);
    second |= moved(low, high, for_high[target], target);
  }
  to_low += first;
  to_high += second;
}

/// The running hash: four 64-bit lanes of each variable. The names are those of its authors' definition.
class state {
 public:
  explicit state(const lanes& key) noexcept {
    for (std::size_t i = 0; i < key.size(); ++i) {
      v0_[i] = mul0_[i] ^ key[i];
      v1_[i] = mul1_[i] ^ halves_swapped(key[i]);
    }
  }

  void packet(const char* bytes) noexcept {
    lanes words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_le64(bytes + sizeof(std::uint64_t) * i);
    update(words);
  }

  /// The last bytes, fewer than a packet.    @pre 0 < rest.size() < packet_bytes
  void end(std::string_view rest) noexcept {
    const auto size = static_cast<unsigned>(rest.size());
    for (std::uint64_t& word : v0_) word += std::uint64_t{size} << 32 | size;
    for (std::uint64_t& word : v1_) word = halves_rotated(word, size);
    std::array<char, packet_bytes> padded{};
    const std::size_t whole = rest.size() & ~std::size_t{3}, odd = rest.size() % 4;
    std::memcpy(padded.data(), rest.data(), whole);
    if (rest.size() >= 16) {
      std::memcpy(padded.data() + 28, rest.data() + rest.size() - 4, 4);
    } else if (odd > 0) {
      padded[16] = rest[whole];
      padded[17] = rest[whole + odd / 2];
      padded[18] = rest[rest.size() - 1];
    }
    packet(padded.data());
  }

  [[nodiscard]] digest finish() noexcept {
    constexpr int rounds = 6;
    for (int i = 0; i < rounds; ++i)
      update(
          {halves_swapped(v0_[2]), halves_swapped(v0_[3]), halves_swapped(v0_[0]), halves_swapped(v0_[1])});
    return {v0_[0] + mul0_[0] + v1_[2] + mul1_[2], v0_[1] + mul0_[1] + v1_[3] + mul1_[3]};
  }

 private:
  void update(const lanes& words) noexcept {
    for (std::size_t i = 0; i < words.size(); ++i) {
      v1_[i] += mul0_[i] + words[i];
      mul0_[i] ^= (v1_[i] & 0xFFFFFFFF) * (v0_[i] >> 32);
      v0_[i] += mul1_[i];
      mul1_[i] ^= (v0_[i] & 0xFFFFFFFF) * (v1_[i] >> 32);
    }
    for (const std::size_t i : {0U, 2U}) add_zipped(v1_[i], v1_[i + 1], v0_[i], v0_[i + 1]);
    for (const std::size_t i : {0U, 2U}) add_zipped(v0_[i], v0_[i + 1], v1_[i], v1_[i + 1]);
  }

  lanes v0_{}, v1_{};
  lanes mul0_ = first_multipliers, mul1_ = second_multipliers;
};

}  // namespace

digest highway_hash_128(const std::array<std::uint64_t, 4>& key, std::string_view bytes) noexcept {
  state s(key);
  for (; bytes.size() >= packet_bytes; bytes.remove_prefix(packet_bytes)) s.packet(bytes.data());
  if (!bytes.empty()) s.end(bytes);
  return s.finish();
}

}  // namespace everseen::foreign
