#include "everseen/core/hash/murmur.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"

namespace everseen {

namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5;
constexpr std::uint64_t c2 = 0x4cf5ad432745937f;

std::uint64_t mixed_low(std::uint64_t word) noexcept {
  return std::rotl(word * c1, 31) * c2;
}

std::uint64_t mixed_high(std::uint64_t word) noexcept {
  return std::rotl(word * c2, 33) * c1;
}

std::uint64_t avalanche(std::uint64_t h) noexcept {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

}  // namespace

void murmur3::block(const char* bytes) noexcept {
  h1_ ^= mixed_low(load_le64(bytes));
  h1_ = (std::rotl(h1_, 27) + h2_) * 5 + 0x52dce729;
  h2_ ^= mixed_high(load_le64(bytes + 8));
  h2_ = (std::rotl(h2_, 31) + h1_) * 5 + 0x38495ab5;
}

digest murmur3::finish(std::string_view tail, std::uint64_t length) const noexcept {
  EVERSEEN_ASSERT(tail.size() < block_bytes);
  // Missing bytes count as zeros, and a word of zeros mixes to zero.
  std::array<char, block_bytes> last{};
  if (!tail.empty()) std::memcpy(last.data(), tail.data(), tail.size());
  std::uint64_t h1 = h1_ ^ mixed_low(load_le64(last.data())) ^ length;
  std::uint64_t h2 = h2_ ^ mixed_high(load_le64(last.data() + 8)) ^ length;
  h1 += h2;
  h2 += h1;
  h1 = avalanche(h1);
  h2 = avalanche(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

digest murmur3_x64_128(std::string_view bytes) noexcept {
  murmur3 state;
  std::string_view rest = bytes;
  for (; rest.size() >= murmur3::block_bytes; rest.remove_prefix(murmur3::block_bytes))
    state.block(rest.data());
  return state.finish(rest, bytes.size());
}

namespace {

constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995;
constexpr unsigned shift = 47;
constexpr std::uint64_t first_seed = 0xc6a4a7935bd1e995;  // RedisBloom's

std::uint64_t folded(std::uint64_t word) noexcept {
  return word ^ (word >> shift);
}

}  // namespace

std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed) noexcept {
  std::uint64_t h = seed ^ (bytes.size() * multiplier);
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    h = (h ^ (folded(load_le64(bytes.data()) * multiplier) * multiplier)) * multiplier;
  if (!bytes.empty()) {
    std::uint64_t last = 0;
    std::memcpy(&last, bytes.data(), bytes.size());
    h = (h ^ last) * multiplier;
  }
  return folded(folded(h) * multiplier);
}

digest murmur64a_pair(std::string_view key) noexcept {
  const std::uint64_t first = murmur64a(key, first_seed);
  return {first, murmur64a(key, first)};
}

}  // namespace everseen
