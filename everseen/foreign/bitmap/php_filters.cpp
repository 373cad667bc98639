#include "everseen/foreign/bitmap/php_filters.hpp"

#include <array>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::foreign {

namespace {

/// Eight steps of the division, by one look-up.
constexpr std::array<std::uint32_t, 256> remainders = [] {
  constexpr std::uint32_t reflected_polynomial = 0xEDB88320;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t r = byte;
    for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) * reflected_polynomial);
    table[byte] = r;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t r = ~std::uint32_t{0};
  for (const char byte : bytes) r = (r >> 8) ^ remainders[(r ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~r;
}

}  // namespace everseen::foreign

namespace everseen::foreign::bkdr_php {

namespace {

constexpr std::uint64_t string_bits = std::uint64_t{1} << 32;  // capacity of a Redis string

constexpr std::array<std::int64_t, max_probes> seeds = [] {
  std::array<std::int64_t, max_probes> all{};
  for (unsigned i = 0; i < max_probes; ++i) all[i] = static_cast<std::int64_t>(bkdr::seed(i));
  return all;
}();

std::uint64_t divided_up(std::uint64_t number, std::uint64_t divisor) noexcept {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

}  // namespace

void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept {
  EVERSEEN_ASSERT(out.size() <= max_probes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint64_t h = 0;
    for (const char byte : key) {
      const std::uint64_t product = php::to_integer(php::product(static_cast<std::int64_t>(h), seeds[i]));
      h = ((product & bkdr::mask) + static_cast<unsigned char>(byte)) & bkdr::mask;
    }
    out[i] = h;
  }
}

void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  hashes(key, out);
  for (std::uint64_t& each : out) each %= bits;
}

shards::shards(std::uint64_t bits, std::uint32_t instances) : instances_(instances), partitions_(1) {
  if (bits == 0) throw parameter_error("a filter of no bits holds nothing; say how many bits it has");
  if (instances == 0) throw parameter_error("a filter needs at least one Redis instance");
  if (bits > string_bits) partitions_ = divided_up(divided_up(bits, instances), string_bits);
}

shards::place shards::of(std::string_view key) const noexcept {
  const std::uint32_t hash = crc32(key);
  return {hash % instances_, hash % partitions_};
}

std::string shards::redis_key(std::string_view name, std::uint64_t partition) {
  return std::string(name) + "." + std::to_string(partition);
}

}  // namespace everseen::foreign::bkdr_php

namespace everseen::foreign::uid_php {

namespace {

constexpr std::array<std::int64_t, probes> seeds = {7, 11, 13, 17, 19, 23, 29};

/// Hashes the rest of a key once h is a double; it never becomes an integer again.
double continued(double h, std::int64_t seed, std::string_view rest) noexcept {
  for (const char byte : rest)
    h = static_cast<double>(seed) * h + static_cast<double>(static_cast<unsigned char>(byte));
  return h;
}

/// PHP multiplies and adds integers until one operation overflows. It repeats that operation, the product or
/// the sum, with doubles, and its result is a double.
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

}  // namespace everseen::foreign::uid_php
