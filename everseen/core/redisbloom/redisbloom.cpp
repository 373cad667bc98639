#include "everseen/core/redisbloom/redisbloom.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen::redisbloom {

void positions(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  draw::redisbloom_positions drawn(hash, bits);
  for (std::uint64_t& each : out) each = drawn.next();
}

namespace {

constexpr std::size_t head_bytes = header_bytes(0);
constexpr std::size_t link_bytes = header_bytes(1) - head_bytes;  // per layer
constexpr std::uint32_t known_flags = 15;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 59;

[[noreturn]] void refuse_dump(const std::string& why) {
  throw format_error("not a dump of RedisBloom: " + why);
}

/// Writes consecutive fields.
class field_writer {
 public:
  explicit field_writer(std::byte* out) noexcept : out_(out) {}
  template <typename Number>
  void put(Number value) noexcept {
    store_le(out_, value);
    out_ += sizeof value;
  }

 private:
  std::byte* out_;
};

/// Reads consecutive fields.    @pre the bytes are there
class field_reader {
 public:
  explicit field_reader(const std::byte* from) noexcept : from_(from) {}
  template <typename Number>
  [[nodiscard]] Number get() noexcept {
    const auto value = load_le<Number>(from_);
    from_ += sizeof value;
    return value;
  }

 private:
  const std::byte* from_;
};

/// A layer whose bits have not arrived yet.
struct announced_layer {
  layer_shape shape;
  std::uint64_t bytes = 0;
};

void validate(const announced_layer& l, std::uint64_t bits, const std::string& name) {
  if (l.bytes == 0 || l.bytes > max_bytes || bits != 8 * l.bytes)
    refuse_dump(name + " has " + std::to_string(bits) + " bits in " + std::to_string(l.bytes) + " bytes");
  if (!(l.shape.error_rate > 0 && l.shape.error_rate < 1))
    refuse_dump(name + " has an error rate outside (0, 1)");
  // Another library's logarithm may differ in the last digit.
  const double expected = foreign_sizes::redisbloom_bits_per_key(l.shape.error_rate);
  if (!(std::abs(l.shape.bits_per_key - expected) <= 1e-9 * expected))
    refuse_dump("the bits a key of " + name + " do not fit its error rate");
  if (l.shape.probes == 0 || l.shape.probes != foreign_sizes::redisbloom_probes(l.shape.bits_per_key))
    refuse_dump("the probes of " + name + " do not fit its bits a key");
  if (l.shape.capacity == 0) refuse_dump(name + " has no capacity");
  if (l.shape.log2_bits >= 63 || (l.shape.log2_bits > 0 && std::uint64_t{1} << l.shape.log2_bits > bits))
    refuse_dump(name + " has fewer bits than its probes reach");
}

announced_layer decode_link(const std::byte* from, const std::string& name) {
  field_reader in(from);
  announced_layer l;
  l.bytes = in.get<std::uint64_t>();
  const auto bits = in.get<std::uint64_t>();
  l.shape.keys = in.get<std::uint64_t>();
  l.shape.error_rate = in.get<double>();
  l.shape.bits_per_key = in.get<double>();
  l.shape.probes = in.get<std::uint32_t>();
  l.shape.capacity = in.get<std::uint64_t>();
  l.shape.log2_bits = in.get<std::uint8_t>();
  validate(l, bits, name);
  return l;
}

void validate_flags(const chain_shape& c) {
  if ((c.flags & ~known_flags) != 0)
    refuse_dump("flags " + std::to_string(c.flags) + " are of a newer version");
  if ((c.flags & flags::wide_hash) == 0)
    throw parameter_error(
        "the filter has the hash of 32 bits that RedisBloom had before version 2.0, and everseen has not; "
        "give the keys to a new one");
}

/// RedisBloom 2.0 to 2.4 had filters with an expansion of 0 that may grow: those that BF.LOADCHUNK made,
/// whose layers show the expansion that they had, and those of BF.RESERVE … EXPANSION 0, which take no key
/// beyond their capacity.
void settle_growth(chain_shape& c) {
  if (!c.grows() || c.expansion != 0) return;
  if (c.layers.size() == 1) {
    c.flags |= flags::fixed_size;
    return;
  }
  const std::uint64_t factor = c.layers[1].capacity / c.layers[0].capacity;
  if (factor == 0 || factor > std::numeric_limits<std::uint32_t>::max())
    refuse_dump("it grows by a factor of " + std::to_string(factor));
  c.expansion = static_cast<std::uint32_t>(factor);
}

/// The chain without its layers. Checks that their links fill the rest of the header exactly.
chain_shape decode_head(std::span<const std::byte> header) {
  if (header.size() < head_bytes)
    refuse_dump("its header ends after " + std::to_string(header.size()) + " bytes");
  field_reader in(header.data());
  chain_shape read;
  read.keys = in.get<std::uint64_t>();
  const auto layers = in.get<std::uint32_t>();
  read.flags = in.get<std::uint32_t>();
  read.expansion = in.get<std::uint32_t>();
  if (layers == 0) refuse_dump("it has no layers");
  if (header.size() != header_bytes(layers))
    refuse_dump("a header of " + std::to_string(header.size()) + " bytes does not hold " +
                std::to_string(layers) + " layers");
  validate_flags(read);
  return read;
}

}  // namespace

std::vector<std::byte> encode_header(const announced_chain& announced) {
  const chain_shape& from = announced.shape;
  std::vector<std::byte> bytes(header_bytes(from.layers.size()));
  field_writer out(bytes.data());
  out.put(from.keys);
  out.put(static_cast<std::uint32_t>(from.layers.size()));
  out.put(from.flags);
  out.put(from.expansion);
  for (std::size_t i = 0; i < from.layers.size(); ++i) {
    const layer_shape& each = from.layers[i];
    out.put(announced.lengths[i]);
    out.put(8 * announced.lengths[i]);
    out.put(each.keys);
    out.put(each.error_rate);
    out.put(each.bits_per_key);
    out.put(each.probes);
    out.put(each.capacity);
    out.put(each.log2_bits);
  }
  return bytes;
}

announced_chain decode_header(std::span<const std::byte> header) {
  announced_chain read{decode_head(header), {}};
  std::uint64_t bytes = 0;
  std::uint64_t keys = 0;
  for (std::size_t position = head_bytes; position < header.size(); position += link_bytes) {
    announced_layer l = decode_link(header.data() + position, "layer " + std::to_string(read.lengths.size()));
    bytes += l.bytes;
    if (bytes > max_bytes) refuse_dump("its layers are larger than any memory");
    keys += l.shape.keys;
    read.lengths.push_back(l.bytes);
    read.shape.layers.push_back(std::move(l.shape));
  }
  if (keys != read.shape.keys)
    refuse_dump("its layers hold " + std::to_string(keys) + " keys and not " +
                std::to_string(read.shape.keys));
  settle_growth(read.shape);
  return read;
}

chunk_order::place chunk_order::take(std::int64_t iterator, std::uint64_t bytes) {
  const std::string name = "chunk " + std::to_string(iterator);
  if (is_complete()) refuse_dump(name + " is past its end");
  const std::uint64_t lacks = lengths_[layer_] - offset_;
  if (bytes == 0 || bytes > lacks)
    refuse_dump(name + " has " + std::to_string(bytes) + " bytes, where layer " + std::to_string(layer_) +
                " lacks " + std::to_string(lacks));
  const std::uint64_t expected = iterator_ + bytes;
  if (static_cast<std::uint64_t>(iterator) != expected)
    refuse_dump(name + " comes where " + std::to_string(expected) + " should");
  const place found = {layer_, offset_};
  iterator_ = expected;
  offset_ += bytes;
  if (offset_ == lengths_[layer_]) {
    ++layer_;
    offset_ = 0;
  }
  return found;
}

void chunk_order::must_be_complete() const {
  if (!is_complete())
    refuse_dump("it is cut off in layer " + std::to_string(layer_) + " of " +
                std::to_string(lengths_.size()));
}

namespace {

[[noreturn]] void refuse_redisbloom(const std::string& why) {
  throw format_error("not a RedisBloom filter that everseen can continue: " + why);
}

spec spec_of(const chain_shape& from) {
  const layer_shape& first = from.layers.front();
  foreign_sizes::must_be_settable(first.probes);
  spec s;
  s.layout = layout_kind::redisbloom;
  s.hash = foreign_sizes::hash_of(s.layout);
  s.growth = from.grows() ? growth_kind::grow : growth_kind::refuse;
  s.capacity = first.capacity;
  s.error_rate = from.grows() ? 2 * first.error_rate : first.error_rate;
  s.probes = static_cast<std::uint8_t>(first.probes);
  s.foreign.powers_of_two = (from.flags & flags::exact_size) == 0;
  s.foreign.expansion = from.expansion;
  return s;
}

/// Whether RedisBloom rounds the bits of a layer up to this many bytes: to words of 64 bits, or, as early
/// versions did, to bytes.
bool is_length_of(const layer_shape& l, std::uint64_t bytes) {
  const auto sized = foreign_sizes::redisbloom_size({l.capacity, l.error_rate}, false);
  const double bits = std::floor(static_cast<double>(l.capacity) * sized.bits_per_key);
  const auto has = static_cast<double>(bytes);
  // Another library's logarithm may differ in the last digit, which can change the size by one unit.
  return (bytes % 8 == 0 && std::abs(has / 8 - sized.size.words) <= 1) ||
         std::abs(has - std::ceil(bits / 8)) <= 1;
}

/// Each layer must be the one that RedisBloom would have created there, since the chain continues to grow
/// from it.
void must_be_planned(const spec& s, unsigned index, const layer_shape& l, std::uint64_t bytes) {
  const std::string name = "layer " + std::to_string(index);
  const std::uint64_t used = l.log2_bits > 0 ? std::uint64_t{1} << l.log2_bits : 8 * bytes;
  if (used != 8 * bytes || (l.log2_bits > 0) != s.foreign.powers_of_two)
    refuse_redisbloom(name + " uses " + std::to_string(used) + " bits of " + std::to_string(bytes) +
                      " bytes");
  growth::layer_plan plan;
  try {
    plan = growth::plan_layer(s, index);
  } catch (const full_error&) {
    refuse_redisbloom(name + " is more than it could have grown to");
  }
  if (l.capacity != plan.capacity)
    refuse_redisbloom(name + " is for " + std::to_string(l.capacity) + " keys, where its expansion of " +
                      std::to_string(s.foreign.expansion) + " gives " + std::to_string(plan.capacity));
  if (!(std::abs(l.error_rate - plan.error_rate) <= 1e-9 * plan.error_rate) || l.probes != plan.shape.probes)
    refuse_redisbloom(name + " does not have half of the previous layer's error rate");
  if (s.foreign.powers_of_two) return;  // the rounded size says nothing about the requested one
  if (!is_length_of(l, bytes))
    refuse_redisbloom(name + " has " + std::to_string(bytes) +
                      " bytes, which is not what its capacity and rate need");
}

spec checked_spec(const announced_chain& from) {
  spec s = spec_of(from.shape);
  s.foreign.first_bytes = from.lengths.front();
  foreign_sizes::must_be_possible(s.error_rate);
  validate(s);
  if (from.lengths.size() > 1 && s.growth != growth_kind::grow)
    refuse_redisbloom("it has several layers and must not grow");
  for (unsigned i = 0; i < from.lengths.size(); ++i)
    must_be_planned(s, i, from.shape.layers[i], from.lengths[i]);
  return s;
}

}  // namespace

announced_filter filter_of(const announced_chain& from) {
  announced_filter f{checked_spec(from)};
  f.is_redisbloom = true;
  for (std::uint32_t i = 0; i < from.lengths.size(); ++i) {
    const layer_shape& l = from.shape.layers[i];
    const geometry shape = {layout_kind::redisbloom, static_cast<std::uint16_t>(l.probes), from.lengths[i]};
    f.segments.push_back({{0, window::timeless, i}, {shape, l.capacity, l.keys}});
  }
  return f;
}

announced_chain chain_of(const spec& s, const partition_state& state) {
  announced_chain all;
  all.shape.flags = flags::wide_hash;
  if (!s.foreign.powers_of_two) all.shape.flags |= flags::exact_size;
  if (s.growth == growth_kind::refuse) all.shape.flags |= flags::fixed_size;
  all.shape.expansion = s.foreign.expansion;
  std::vector<layer_state> layers;
  if (!state.slices.empty()) layers = state.slices.front().layers;
  if (layers.empty()) {
    const growth::layer_plan plan = growth::plan_layer(s, 0);
    layers.push_back({plan.shape, plan.capacity, 0});
  }
  for (unsigned i = 0; i < layers.size(); ++i) {
    layer_shape l;
    l.capacity = layers[i].capacity;
    l.error_rate = i == 0 ? growth::plan_layer(s, 0).error_rate : all.shape.layers.back().error_rate / 2;
    l.bits_per_key = foreign_sizes::redisbloom_bits_per_key(l.error_rate);
    l.probes = layers[i].shape.probes;
    l.keys = layers[i].keys;
    if (s.foreign.powers_of_two)
      l.log2_bits = static_cast<std::uint8_t>(std::bit_width(layers[i].shape.bits()) - 1);
    all.shape.keys += l.keys;
    all.shape.layers.push_back(l);
    all.lengths.push_back(layers[i].shape.bytes);
  }
  return all;
}

}  // namespace everseen::redisbloom
