#include "everseen/compat/bitmap/bkdr_php.hpp"

#include <array>

#include "everseen/compat/bitmap/crc32.hpp"
#include "everseen/compat/bitmap/php_number.hpp"
#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::compat::bkdr_php {

namespace {

constexpr std::uint64_t string_bits = std::uint64_t{1} << 32;  // capacity of a Redis string

constexpr std::array<std::int64_t, max_probes> seeds = [] {
  std::array<std::int64_t, max_probes> all{};
  for (unsigned i = 0; i < max_probes; ++i) all[i] = static_cast<std::int64_t>(bkdr::seed(i));
  return all;
}();

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) noexcept {
  return number / by + (number % by != 0 ? 1 : 0);
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

}  // namespace everseen::compat::bkdr_php
