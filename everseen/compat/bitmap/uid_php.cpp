#include "everseen/compat/bitmap/uid_php.hpp"

#include <array>

#include "everseen/compat/bitmap/php_number.hpp"
#include "everseen/core/base/assert.hpp"

namespace everseen::compat::uid_php {

namespace {

constexpr std::array<std::int64_t, probes> seeds = {7, 11, 13, 17, 19, 23, 29};

/// Hashes the rest of a key once h is a double; it never becomes an integer again.
double continued(double h, std::int64_t seed, std::string_view rest) noexcept {
  for (const char byte : rest)
    h = static_cast<double>(seed) * h + static_cast<double>(static_cast<unsigned char>(byte));
  return h;
}

std::uint64_t hash(std::string_view key, std::int64_t seed) noexcept {
  std::int64_t h = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto byte = static_cast<unsigned char>(key[i]);
    std::int64_t product = 0;
    std::int64_t sum = 0;
    if (__builtin_mul_overflow(seed, h, &product))
      return php::to_integer(continued(static_cast<double>(h), seed, key.substr(i)));
    if (__builtin_add_overflow(product, std::int64_t{byte}, &sum)) {
      const double first = static_cast<double>(product) + static_cast<double>(byte);
      return php::to_integer(continued(first, seed, key.substr(i + 1)));
    }
    h = sum;
  }
  return static_cast<std::uint64_t>(h);
}

}  // namespace

void positions(std::string_view key, std::span<std::uint64_t> out) noexcept {
  EVERSEEN_ASSERT(out.size() <= probes);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = hash(key, seeds[i]) & (bits - 1);
}

}  // namespace everseen::compat::uid_php
