#include "everseen/core/hash/murmur64a.hpp"

#include <cstring>

#include "everseen/core/base/bytes.hpp"

namespace everseen {

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
