#include "everseen/compat/redisbloom_dump.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "everseen/core/assert.hpp"
#include "everseen/core/bytes.hpp"
#include "everseen/core/error.hpp"

namespace everseen::compat::redisbloom {

namespace {

constexpr std::size_t head_bytes = 20;
constexpr std::size_t link_bytes = 53;  // of a layer in the header
constexpr std::uint32_t known_flags = 15;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 59;

[[noreturn]] void refuse(const std::string& why) {
  throw format_error("not a dump of RedisBloom: " + why);
}

/// Writes fields one after the other.
class field_writer {
 public:
  explicit field_writer(std::byte* to) noexcept : to_(to) {}
  template <typename Number>
  void put(Number value) noexcept {
    store_le(to_, value);
    to_ += sizeof value;
  }

 private:
  std::byte* to_;
};

/// Reads them again.    @pre the bytes are there
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

std::vector<std::byte> encode_header(const chain& from) {
  std::vector<std::byte> bytes(head_bytes + link_bytes * from.layers.size());
  field_writer out(bytes.data());
  out.put(from.keys);
  out.put(static_cast<std::uint32_t>(from.layers.size()));
  out.put(from.flags);
  out.put(from.expansion);
  for (const layer& each : from.layers) {
    out.put(std::uint64_t{each.bits.size()});
    out.put(8 * std::uint64_t{each.bits.size()});
    out.put(each.keys);
    out.put(each.error_rate);
    out.put(each.bits_per_key);
    out.put(each.probes);
    out.put(each.capacity);
    out.put(each.log2_bits);
  }
  return bytes;
}

/// Its bits are still to come.
struct announced_layer {
  layer of;
  std::uint64_t bytes = 0;
};

void validate(const announced_layer& l, std::uint64_t bits, const std::string& name) {
  if (l.bytes == 0 || l.bytes > max_bytes || bits != 8 * l.bytes)
    refuse(name + " has " + std::to_string(bits) + " bits in " + std::to_string(l.bytes) + " bytes");
  if (!(l.of.error_rate > 0 && l.of.error_rate < 1)) refuse(name + " has an error rate outside (0, 1)");
  // Another library's logarithm may differ in the last place.
  const double expected = bits_per_key(l.of.error_rate);
  if (!(std::abs(l.of.bits_per_key - expected) <= 1e-9 * expected))
    refuse("the bits a key of " + name + " do not fit its error rate");
  if (l.of.probes == 0 || l.of.probes != probes(l.of.bits_per_key))
    refuse("the probes of " + name + " do not fit its bits a key");
  if (l.of.capacity == 0) refuse(name + " has no capacity");
  if (l.of.log2_bits >= 63 || (l.of.log2_bits > 0 && std::uint64_t{1} << l.of.log2_bits > bits))
    refuse(name + " has fewer bits than its probes reach");
}

announced_layer decode_link(const std::byte* from, const std::string& name) {
  field_reader in(from);
  announced_layer l;
  l.bytes = in.get<std::uint64_t>();
  const auto bits = in.get<std::uint64_t>();
  l.of.keys = in.get<std::uint64_t>();
  l.of.error_rate = in.get<double>();
  l.of.bits_per_key = in.get<double>();
  l.of.probes = in.get<std::uint32_t>();
  l.of.capacity = in.get<std::uint64_t>();
  l.of.log2_bits = in.get<std::uint8_t>();
  validate(l, bits, name);
  return l;
}

void validate_flags(const chain& c) {
  if ((c.flags & ~known_flags) != 0) refuse("flags " + std::to_string(c.flags) + " are of a newer version");
  if ((c.flags & flags::wide_hash) == 0)
    refuse("its hash is the one of 32 bits, from before version 2.0, which is not supported");
  if (c.grows() && c.expansion == 0) refuse("it grows by a factor of 0");
}

/// The chain without its layers; their links fill the rest of the header exactly.
chain decode_head(std::span<const std::byte> header) {
  if (header.size() < head_bytes) refuse("its header ends after " + std::to_string(header.size()) + " bytes");
  field_reader in(header.data());
  chain read;
  read.keys = in.get<std::uint64_t>();
  const auto layers = in.get<std::uint32_t>();
  read.flags = in.get<std::uint32_t>();
  read.expansion = in.get<std::uint32_t>();
  if (layers == 0) refuse("it has no layers");
  if (header.size() != head_bytes + link_bytes * std::uint64_t{layers})
    refuse("a header of " + std::to_string(header.size()) + " bytes does not hold " + std::to_string(layers) +
           " layers");
  validate_flags(read);
  return read;
}

}  // namespace

dumper::dumper(const chain& from, std::size_t chunk_bytes)
    : from_(from), chunk_bytes_(chunk_bytes), header_(encode_header(from)) {
  EVERSEEN_ASSERT(chunk_bytes > 0);
}

std::optional<chunk> dumper::next() {
  if (!std::exchange(begun_, true)) return chunk{1, header_};
  if (layer_ == from_.layers.size()) return std::nullopt;
  const std::span<const std::byte> bits = from_.layers[layer_].bits;
  const auto data = bits.subspan(at_, std::min(chunk_bytes_, bits.size() - at_));
  at_ += data.size();
  iterator_ += static_cast<std::int64_t>(data.size());
  if (at_ == bits.size()) {
    ++layer_;
    at_ = 0;
  }
  return chunk{iterator_, data};
}

void loader::load(std::int64_t iterator, std::span<const std::byte> data) {
  if (lengths_.empty()) {
    if (iterator != 1)
      refuse("it begins with chunk " + std::to_string(iterator) + " instead of the header, 1");
    return load_header(data);
  }
  if (is_complete()) refuse("chunk " + std::to_string(iterator) + " is behind its end");
  std::vector<std::byte>& bits = into_.layers[layer_].bits;
  if (data.empty() || data.size() > lengths_[layer_] - bits.size())
    refuse("chunk " + std::to_string(iterator) + " has " + std::to_string(data.size()) +
           " bytes, where layer " + std::to_string(layer_) + " lacks " +
           std::to_string(lengths_[layer_] - bits.size()));
  const std::int64_t expected = iterator_ + static_cast<std::int64_t>(data.size());
  if (iterator != expected)
    refuse("chunk " + std::to_string(iterator) + " comes where " + std::to_string(expected) + " should");
  bits.insert(bits.end(), data.begin(), data.end());
  iterator_ = expected;
  if (bits.size() == lengths_[layer_]) ++layer_;
}

void loader::load_header(std::span<const std::byte> data) {
  chain read = decode_head(data);
  std::vector<std::uint64_t> lengths;
  std::uint64_t bytes = 0;
  std::uint64_t keys = 0;
  for (std::size_t at = head_bytes; at < data.size(); at += link_bytes) {
    announced_layer l = decode_link(data.data() + at, "layer " + std::to_string(lengths.size()));
    bytes += l.bytes;
    if (bytes > max_bytes) refuse("its layers are larger than any memory");
    keys += l.of.keys;
    lengths.push_back(l.bytes);
    read.layers.push_back(std::move(l.of));
  }
  if (keys != read.keys)
    refuse("its layers hold " + std::to_string(keys) + " keys and not " + std::to_string(read.keys));
  into_ = std::move(read);
  lengths_ = std::move(lengths);
}

bool loader::is_complete() const noexcept {
  return !lengths_.empty() && layer_ == lengths_.size();
}

chain loader::finish() {
  if (lengths_.empty()) refuse("there is no header");
  if (!is_complete())
    refuse("it is cut off in layer " + std::to_string(layer_) + " of " + std::to_string(lengths_.size()));
  lengths_.clear();
  return std::exchange(into_, {});
}

}  // namespace everseen::compat::redisbloom
