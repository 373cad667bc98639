#include "everseen/compat/murmur64a.hpp"

#include <cstring>

#include "everseen/core/bytes.hpp"

namespace everseen::compat {

namespace {

constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995;
constexpr unsigned shift = 47;

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

}  // namespace everseen::compat
