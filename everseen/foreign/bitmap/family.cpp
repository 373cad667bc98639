#include "everseen/foreign/bitmap/family.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/foreign/bitmap/plain_filters.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"
#include "everseen/foreign/guava/guava.hpp"

namespace everseen::foreign {

namespace {

constexpr std::uint64_t bits_of_31_bit_hashes = std::uint64_t{1} << 31;
/// At the lowest rate that a double can hold.
constexpr unsigned most_probes_by_rate = 1075;

// In the order of the enumeration. The defaults of Guava and RedisBloom follow from their rates, 3 % and 1 %;
// Redisson has none, so it gets that of 1 %.
constexpr std::array<family_facts, 8> families = {{
    {family::gozero, "gozero", "go-zero's Redis filter", gozero::probes, gozero::probes, 0, 0, 0, true},
    {family::bkdr, "bkdr", "BKDR hashes in C", 8, bkdr::max_probes, 0, 0, bits_of_31_bit_hashes, false},
    {family::bkdr_php, "bkdr-php", "BKDR hashes in PHP", 8, bkdr_php::max_probes, 0, 0, bits_of_31_bit_hashes,
     false},
    {family::uid_php, "uid-php", "a PHP filter for user ids", uid_php::probes, uid_php::probes, uid_php::bits,
     0, 0, false},
    {family::guava32, "guava32", "Guava, MURMUR128_MITZ_32", 5, guava::max_probes, 0, 0,
     bits_of_31_bit_hashes, false},
    {family::guava64, "guava64", "Guava, MURMUR128_MITZ_64", 5, guava::max_probes, 0, 0, 0, true},
    {family::redisbloom, "redisbloom", "RedisBloom", 8, most_probes_by_rate, 0, 0, 0, false},
    {family::redisson, "redisson", "Redisson's RBloomFilter", 7, most_probes_by_rate, 0, redisson::max_bits,
     0, true},
}};

std::string named(const family_facts& f) {
  return "a filter of " + std::string(f.name);
}

std::string joined(std::span<const std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t each : numbers) {
    if (!text.empty()) text += ' ';
    text += std::to_string(each);
  }
  return text;
}

}  // namespace

std::span<const family_facts> all_families() noexcept {
  return families;
}

const family_facts& facts(family which) noexcept {
  return families[static_cast<std::size_t>(which)];
}

std::optional<family> parse_family(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(families, name, &family_facts::name);
  return found == families.end() ? std::nullopt : std::optional(found->which);
}

void validate(const scheme& s) {
  const family_facts& f = facts(s.which);
  if (s.bits == 0) throw parameter_error(named(f) + " needs at least one bit");
  if (f.fixed_bits != 0 && s.bits != f.fixed_bits)
    throw parameter_error(named(f) + " always has " + std::to_string(f.fixed_bits) + " bits");
  if (f.most_bits != 0 && s.bits > f.most_bits)
    throw parameter_error(named(f) + " has at most " + std::to_string(f.most_bits) + " bits");
  const bool fixed = f.max_probes == f.standard_probes;
  if (fixed && s.probes != f.standard_probes)
    throw parameter_error(named(f) + " always has " + std::to_string(f.standard_probes) + " probes");
  if (s.probes == 0 || s.probes > f.max_probes)
    throw parameter_error(named(f) + " has 1 to " + std::to_string(f.max_probes) + " probes");
}

std::string_view warning_about(const scheme& s) noexcept {
  constexpr unsigned good_probes = 8;
  constexpr unsigned redisson_errs_from = 12;
  if (s.which == family::bkdr_php && s.probes > good_probes)
    return "PHP rounds the products of the longer seeds, so more than 8 probes of bkdr-php gain next to "
           "nothing: 16 err up to 1000 times as often as the formula says, hardly less than 8";
  if ((s.which == family::bkdr || s.which == family::bkdr_php) && s.bits > bits_of_31_bit_hashes)
    return "a BKDR hash has 31 bits, so no bit from 2147483648 on is ever used";
  if (s.which == family::redisson && s.probes >= redisson_errs_from)
    return "Redisson draws all bits of a key from two numbers, so at rates below 0.1 % it errs more often "
           "than the formula says: 5 times as often at 1e-6, 100 times at 1e-9";
  if (s.which == family::uid_php)
    return "uid-php is made for ids of a few digits: all keys of 30 bytes or more share one bit";
  return {};
}

void positions(const scheme& s, std::string_view key, std::span<std::uint64_t> out) noexcept {
  EVERSEEN_ASSERT(out.size() == s.probes);
  switch (s.which) {
    case family::gozero:
      return gozero::positions(key, s.bits, out);
    case family::bkdr:
      return bkdr::positions(key, s.bits, out);
    case family::bkdr_php:
      return bkdr_php::positions(key, s.bits, out);
    case family::uid_php:
      return uid_php::positions(key, out);
    case family::guava32:
      return guava::positions(guava::strategy::mitz_32, murmur3_x64_128(key), s.bits, out);
    case family::guava64:
      return guava::positions(guava::strategy::mitz_64, murmur3_x64_128(key), s.bits, out);
    case family::redisbloom:
      return redisbloom::positions(murmur64a_pair(key), s.bits, out);
    case family::redisson:
      return redisson::positions(redisson::hash(key), s.bits, out);
  }
}

std::string digest_text(family which, unsigned probes, std::string_view key) {
  std::vector<std::uint64_t> numbers(probes);
  switch (which) {
    case family::gozero:
      gozero::hashes(key, numbers);
      break;
    case family::bkdr:
      bkdr::hashes(key, numbers);
      break;
    case family::bkdr_php:
      bkdr_php::hashes(key, numbers);
      break;
    case family::uid_php:
      uid_php::positions(key, numbers);
      break;
    case family::guava32:
    case family::guava64: {
      const digest d = murmur3_x64_128(key);
      return hex_of(__builtin_bswap64(d.low)) + hex_of(__builtin_bswap64(d.high));
    }
    case family::redisbloom:
    case family::redisson: {
      const digest d = which == family::redisson ? redisson::hash(key) : murmur64a_pair(key);
      return hex_of(d.low) + ' ' + hex_of(d.high);
    }
  }
  return joined(numbers);
}

}  // namespace everseen::foreign
