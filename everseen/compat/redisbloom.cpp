#include "everseen/compat/redisbloom.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "everseen/compat/bit_order.hpp"
#include "everseen/compat/murmur64a.hpp"
#include "everseen/core/error.hpp"

namespace everseen::compat::redisbloom {

namespace {

constexpr std::uint64_t hash_seed = 0xC6A4A7935BD1E995;
constexpr double tightening = 0.5;
constexpr double max_bits = 0x1p62;
constexpr std::uint64_t lowest_first = 7;  // p ^ 7 is where Redis has bit p of such a byte

layer empty_layer(std::uint64_t capacity, double error_rate) {
  layer made;
  made.capacity = capacity;
  made.error_rate = error_rate;
  made.bits_per_key = bits_per_key(error_rate);
  const double bits = static_cast<double>(capacity) * made.bits_per_key;
  if (bits > max_bits) throw parameter_error("a layer would have more than 2^62 bits; ask for fewer keys");
  made.probes = probes(made.bits_per_key);  // not before: halved often enough, a rate is 0 and needs infinity
  const auto words = (static_cast<std::uint64_t>(bits) + 63) / 64;
  if (words == 0) throw parameter_error("that error rate needs no bits; ask for a lower one");
  made.bits.resize(words * 8);
  return made;
}

}  // namespace

hash_pair hash(std::string_view key) noexcept {
  const std::uint64_t a = murmur64a(key, hash_seed);
  return {a, murmur64a(key, a)};
}

void positions(const hash_pair& h, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  std::uint64_t sum = h.a;
  for (std::uint64_t& each : out) {
    each = sum % bits;
    sum += h.b;
  }
}

double bits_per_key(double error_rate) noexcept {
  constexpr double ln2_squared = 0.480453013918201;  // cut off there, and bits come out of it
  return std::abs(std::log(error_rate) / ln2_squared);
}

std::uint32_t probes(double bits_per_key) noexcept {
  return static_cast<std::uint32_t>(std::ceil(std::numbers::ln2 * bits_per_key));
}

bool layer::may_contain(const hash_pair& h) const noexcept {
  const std::uint64_t m = modulus();
  std::uint64_t sum = h.a;
  for (std::uint32_t i = 0; i < probes; ++i, sum += h.b)
    if (!test_bit(bits, (sum % m) ^ lowest_first)) return false;
  return true;
}

bool layer::add(const hash_pair& h) noexcept {
  const std::uint64_t m = modulus();
  bool changed = false;
  std::uint64_t sum = h.a;
  for (std::uint32_t i = 0; i < probes; ++i, sum += h.b) changed |= set_bit(bits, (sum % m) ^ lowest_first);
  return changed;
}

chain chain::reserve(const request& asked) {
  if (!(asked.error_rate > 0 && asked.error_rate < 1))
    throw parameter_error("an error rate lies between 0 and 1");
  if (asked.capacity == 0) throw parameter_error("a filter for no keys makes no sense");
  if (asked.expansion == 0) throw parameter_error("a filter that grows by nothing makes no sense");
  chain made;
  made.expansion = asked.expansion;
  if (!asked.grows) made.flags |= flags::fixed_size;
  made.layers.push_back(empty_layer(asked.capacity, asked.error_rate * (asked.grows ? tightening : 1)));
  return made;
}

bool chain::may_contain(std::string_view key) const noexcept {
  const hash_pair h = hash(key);
  return std::ranges::any_of(layers, [&](const layer& each) { return each.may_contain(h); });
}

verdict chain::add(std::string_view key) {
  const hash_pair h = hash(key);
  if (std::ranges::any_of(layers, [&](const layer& each) { return each.may_contain(h); }))
    return verdict::seen;
  if (const layer& newest = layers.back(); newest.keys >= newest.capacity) {
    if (!grows()) throw full_error("the filter is full and was created not to grow");
    std::uint64_t capacity = 0;
    if (__builtin_mul_overflow(newest.capacity, std::uint64_t{expansion}, &capacity))
      throw parameter_error("the next layer would hold more keys than can be counted");
    layers.push_back(empty_layer(capacity, newest.error_rate * tightening));
  }
  layers.back().add(h);
  ++layers.back().keys;
  ++keys;
  return verdict::fresh;
}

}  // namespace everseen::compat::redisbloom
