#include "test/support/model/redisbloom_chain.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/spec/growth.hpp"

#include "test/support/bits.hpp"

namespace everseen::redisbloom {

namespace {

constexpr double tightening = 0.5;
constexpr double max_bits = 0x1p62;
constexpr std::uint64_t lowest_first = 7;  // p ^ 7 is Redis's number of bit p of such a byte

layer empty_layer(std::uint64_t capacity, double error_rate, std::uint32_t chain_flags) {
  const bool powers_of_two = (chain_flags & flags::exact_size) == 0;
  const auto sized = foreign_sizes::redisbloom_size({capacity, error_rate}, powers_of_two);
  // Tested by size, not by probes: a rate halved often enough is 0 and needs infinitely many bits.
  if (!(sized.size.words <= max_bits / 64))
    throw parameter_error("a layer would have more than 2^62 bits; ask for fewer keys");
  const auto words = static_cast<std::uint64_t>(sized.size.words);
  if (words == 0) throw parameter_error("that error rate needs no bits; ask for a lower one");
  layer made;
  made.capacity = sized.capacity;
  made.error_rate = error_rate;
  made.bits_per_key = sized.bits_per_key;
  made.probes = static_cast<std::uint32_t>(sized.size.probes);
  made.log2_bits = static_cast<std::uint8_t>(sized.log2_bits);
  made.bits.resize(words * 8);
  return made;
}

}  // namespace

bool layer::may_contain(const digest& hash) const noexcept {
  draw::redisbloom_positions drawn(hash, modulus());
  for (std::uint32_t i = 0; i < probes; ++i)
    if (!test_bit(bits, drawn.next() ^ lowest_first)) return false;
  return true;
}

bool layer::add(const digest& hash) noexcept {
  draw::redisbloom_positions drawn(hash, modulus());
  bool changed = false;
  for (std::uint32_t i = 0; i < probes; ++i) changed |= set_bit(bits, drawn.next() ^ lowest_first);
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
  made.layers.push_back(
      empty_layer(asked.capacity, asked.error_rate * (asked.grows ? tightening : 1), made.flags));
  return made;
}

bool chain::may_contain(std::string_view key) const noexcept {
  const digest h = murmur64a_pair(key);
  return std::ranges::any_of(layers, [&](const layer& each) { return each.may_contain(h); });
}

verdict chain::add(std::string_view key) {
  const digest h = murmur64a_pair(key);
  if (std::ranges::any_of(layers, [&](const layer& each) { return each.may_contain(h); }))
    return verdict::seen;
  if (const layer& newest = layers.back(); newest.keys >= newest.capacity) {
    if (!grows()) {
      spec s;
      s.capacity = newest.capacity;
      s.growth = growth_kind::refuse;
      throw growth::no_room(s);
    }
    std::uint64_t capacity = 0;
    if (__builtin_mul_overflow(newest.capacity, std::uint64_t{expansion}, &capacity))
      throw parameter_error("the next layer would hold more keys than can be counted");
    layers.push_back(empty_layer(capacity, newest.error_rate * tightening, flags));
  }
  layers.back().add(h);
  ++layers.back().keys;
  ++keys;
  return verdict::fresh;
}

namespace {

announced_chain announced(const chain& from) {
  announced_chain all;
  all.shape.flags = from.flags;
  all.shape.expansion = from.expansion;
  all.shape.keys = from.keys;
  for (const layer& each : from.layers) {
    all.lengths.push_back(each.bits.size());
    all.shape.layers.push_back(each);
  }
  return all;
}

}  // namespace

dumper::dumper(const chain& from, std::size_t chunk_bytes)
    : from_(from), chunk_bytes_(chunk_bytes), header_(encode_header(announced(from))) {
  EVERSEEN_ASSERT(chunk_bytes > 0);
}

std::optional<chunk> dumper::next() {
  if (!std::exchange(begun_, true)) return chunk{1, header_};
  if (layer_ == from_.layers.size()) return std::nullopt;
  const std::span<const std::byte> bits = from_.layers[layer_].bits;
  const auto data = bits.subspan(in_layer_, std::min(chunk_bytes_, bits.size() - in_layer_));
  in_layer_ += data.size();
  iterator_ += static_cast<std::int64_t>(data.size());
  if (in_layer_ == bits.size()) {
    ++layer_;
    in_layer_ = 0;
  }
  return chunk{iterator_, data};
}

void loader::load(std::int64_t iterator, std::span<const std::byte> data) {
  if (!order_) {
    if (iterator != 1)
      throw format_error("it begins with chunk " + std::to_string(iterator) + " instead of the header, 1");
    into_ = decode_header(data);
    order_.emplace(into_.lengths);
    bits_.resize(into_.lengths.size());
    return;
  }
  const chunk_order::place place = order_->take(iterator, data.size());
  std::vector<std::byte>& bits = bits_[place.layer];
  bits.insert(bits.end(), data.begin(), data.end());
}

bool loader::is_complete() const noexcept {
  return order_ && order_->is_complete();
}

chain loader::finish() {
  if (!order_) throw format_error("there is no header");
  order_->must_be_complete();
  order_.reset();
  chain made{into_.shape.flags, into_.shape.expansion, into_.shape.keys, {}};
  for (std::size_t i = 0; i < bits_.size(); ++i)
    made.layers.push_back({into_.shape.layers[i], std::move(bits_[i])});
  return made;
}

}  // namespace everseen::redisbloom
