#include "everseen/compat/redisbloom/redisbloom_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "everseen/compat/bitmap/bit_order.hpp"
#include "everseen/compat/redisbloom/redisbloom_dump.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/filter/foreign_file.hpp"
#include "everseen/filter/foreign_refusals.hpp"

namespace everseen {

namespace {

namespace redisbloom = compat::redisbloom;

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
constexpr std::size_t longest_header_bytes = redisbloom::header_bytes(growth::max_layers);

[[noreturn]] void refuse(const std::string& why) {
  throw format_error("not a filter of RedisBloom that can go on here: " + why);
}

spec spec_of(const redisbloom::chain& from) {
  const redisbloom::layer& first = from.layers.front();
  must_be_settable(first.probes);
  spec s;
  s.layout = layout_kind::redisbloom;
  s.hash = foreign::hash_of(s.layout);
  s.growth = from.grows() ? growth_kind::grow : growth_kind::refuse;
  s.capacity = first.capacity;
  s.error_rate = from.grows() ? 2 * first.error_rate : first.error_rate;
  s.probes = static_cast<std::uint8_t>(first.probes);
  s.foreign.powers_of_two = (from.flags & redisbloom::flags::exact_size) == 0;
  s.foreign.expansion = from.expansion;
  return s;
}

/// Each layer must be the one that RedisBloom would have created there, since the chain continues to grow
/// from it.
void must_be_planned(const spec& s, unsigned index, const redisbloom::layer& l, std::uint64_t bytes) {
  const std::string name = "layer " + std::to_string(index);
  const std::uint64_t used = l.log2_bits > 0 ? std::uint64_t{1} << l.log2_bits : 8 * bytes;
  if (bytes % 8 != 0 || used != 8 * bytes || (l.log2_bits > 0) != s.foreign.powers_of_two)
    refuse(name + " uses " + std::to_string(used) + " bits of " + std::to_string(bytes) + " bytes");
  must_be_settable(l.probes);
  growth::layer_plan plan;
  try {
    plan = growth::plan_layer(s, index);
  } catch (const full_error&) {
    refuse(name + " is more than it could have grown to");
  }
  if (l.capacity != plan.capacity)
    refuse(name + " is for " + std::to_string(l.capacity) + " keys, where its expansion of " +
           std::to_string(s.foreign.expansion) + " gives " + std::to_string(plan.capacity));
  if (!(std::abs(l.error_rate - plan.error_rate) <= 1e-9 * plan.error_rate) || l.probes != plan.shape.probes)
    refuse(name + " has not half of the error rate of the one before");
  if (s.foreign.powers_of_two) return;  // the rounded size says nothing about the requested one
  // Another library's logarithm may differ in the last digit, which can change the size by one word.
  const double words = foreign::redisbloom_size({l.capacity, l.error_rate}, false).size.words;
  if (std::abs(static_cast<double>(bytes / 8) - words) > 1)
    refuse(name + " has " + std::to_string(bytes / 8) + " words, where its capacity and rate need " +
           std::to_string(static_cast<std::uint64_t>(words)));
}

spec checked_spec(const redisbloom::announced_chain& from) {
  spec s = spec_of(from.of);
  s.foreign.first_bytes = from.lengths.front();
  must_be_possible(s.error_rate);
  validate(s);
  if (from.lengths.size() > 1 && s.growth != growth_kind::grow)
    refuse("it has several layers and must not grow");
  for (unsigned i = 0; i < from.lengths.size(); ++i)
    must_be_planned(s, i, from.of.layers[i], from.lengths[i]);
  return s;
}

/// Converts in either direction: RedisBloom's bit p of a byte is bit 7 - p here.
void convert_bytes(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  std::size_t at = 0;
  for (; at + 8 <= from.size(); at += 8)
    store_le(to.data() + at, compat::bits_of_bytes_reversed(load_le64(from.data() + at)));
  for (; at < from.size(); ++at)
    to[at] = static_cast<std::byte>(compat::bits_of_bytes_reversed(std::to_integer<std::uint64_t>(from[at])));
}

std::vector<std::byte> read_header(redisbloom::file_reader& in) {
  const auto pair = in.next();
  if (!pair || pair->iterator != 1) refuse("it does not begin with the header, chunk 1");
  if (pair->bytes > longest_header_bytes)
    refuse("its header has " + std::to_string(pair->bytes) + " bytes, and the " +
           std::to_string(growth::max_layers) + " layers that there can be fill " +
           std::to_string(longest_header_bytes));
  std::vector<std::byte> header(pair->bytes);
  in.read(header);
  return header;
}

std::uint64_t sum(std::span<const std::uint64_t> lengths) noexcept {
  std::uint64_t all = 0;
  for (const std::uint64_t each : lengths) all += each;
  return all;
}

}  // namespace

struct redisbloom_loader::work {
  explicit work(redisbloom::announced_chain a) : announced(std::move(a)), order(announced.lengths) {}

  const redisbloom::announced_chain announced;
  redisbloom::chunk_order order;
  std::unique_ptr<store::restore> restored{};
  std::span<std::byte> segment{};
  std::uint64_t bytes_made = 0;
};

redisbloom_loader::redisbloom_loader(store& into, std::string_view name, std::span<const std::byte> header)
    : work_(std::make_unique<work>(redisbloom::decode_header(header))) {
  const spec s = checked_spec(work_->announced);
  must_have_room(into, work_->announced.lengths);
  work_->restored = into.begin_restore(name, s);
}

redisbloom_loader::~redisbloom_loader() = default;

std::span<std::byte> redisbloom_loader::place(std::int64_t iterator, std::uint64_t bytes) {
  const redisbloom::chunk_order::place place = work_->order.take(iterator, bytes);
  const redisbloom::layer& layer = work_->announced.of.layers[place.layer];
  const geometry shape = {layout_kind::redisbloom, static_cast<std::uint8_t>(layer.probes),
                          work_->announced.lengths[place.layer]};
  if (place.offset == 0) {
    work_->segment = work_->restored->add_segment(
        {0, window::timeless, static_cast<std::uint32_t>(place.layer)}, {shape, layer.capacity, layer.keys});
    work_->bytes_made += shape.bytes;
  }
  return work_->segment.subspan(place.offset, bytes);
}

void redisbloom_loader::load(std::int64_t iterator, std::span<const std::byte> bytes) {
  convert_bytes(bytes, place(iterator, bytes.size()));
}

std::uint64_t redisbloom_loader::bytes() const noexcept {
  return sum(work_->announced.lengths);
}

std::uint64_t redisbloom_loader::bytes_made() const noexcept {
  return work_->bytes_made;
}

bool redisbloom_loader::is_complete() const noexcept {
  return work_->order.is_complete();
}

void redisbloom_loader::commit() {
  work_->order.must_be_complete();
  work_->restored->commit();
}

void import_redisbloom(store& into, std::string_view name, const foreign_source& from) {
  redisbloom::file_reader in(from.read);
  const std::vector<std::byte> header = read_header(in);
  const std::uint64_t bytes = sum(redisbloom::decode_header(header).lengths);
  if (from.bytes && bytes > *from.bytes)
    refuse("its header promises " + std::to_string(bytes) + " bytes, and the file has " +
           std::to_string(*from.bytes));
  redisbloom_loader loader(into, name, header);
  while (const auto pair = in.next())
    for (auto rest = loader.place(pair->iterator, pair->bytes); !rest.empty();
         rest = rest.subspan(std::min(rest.size(), chunk_bytes))) {
      const auto part = rest.first(std::min(rest.size(), chunk_bytes));
      in.read(part);
      convert_bytes(part, part);
    }
  loader.commit();
}

namespace {

/// The header, and whether its layers have bits. Layers of a filter without keys are all zero.
struct announcement {
  redisbloom::announced_chain chain;
  bool has_bits = true;
};

/// Describes the chain in its header from the current layers.
announcement announce(const filter& f) {
  const spec& s = f.get_spec();
  announcement made;
  redisbloom::announced_chain& all = made.chain;
  all.of.flags = redisbloom::flags::wide_hash;
  if (!s.foreign.powers_of_two) all.of.flags |= redisbloom::flags::exact_size;
  if (s.growth == growth_kind::refuse) all.of.flags |= redisbloom::flags::fixed_size;
  all.of.expansion = s.foreign.expansion;
  partition_state state = f.stored().state(0);
  if (state.slices.empty()) state.slices.push_back({window::timeless, {}});
  auto& layers = state.slices.front().layers;
  if (layers.empty()) {
    made.has_bits = false;
    const growth::layer_plan plan = growth::plan_layer(s, 0);
    layers.push_back({plan.shape, plan.capacity, 0});
  }
  for (unsigned i = 0; i < layers.size(); ++i) {
    redisbloom::layer l;
    l.capacity = layers[i].capacity;
    l.error_rate = growth::plan_layer(s, i).error_rate;
    l.bits_per_key = foreign::redisbloom_bits_per_key(l.error_rate);
    l.probes = layers[i].shape.probes;
    l.keys = layers[i].keys;
    if (s.foreign.powers_of_two)
      l.log2_bits = static_cast<std::uint8_t>(std::bit_width(layers[i].shape.bits()) - 1);
    all.of.keys += l.keys;
    all.of.layers.push_back(l);
    all.lengths.push_back(layers[i].shape.bytes);
  }
  return made;
}

[[noreturn]] void emptied_meanwhile(const filter& f) {
  throw storage_error("'" + f.name() + "' was emptied while it was copied; copy it again", 0, f.name());
}

/// Calls `visit(layer, bits)` for the announced layers, in order.
///
/// Keys added since may be in the bits; layers created since are skipped. If a layer has fewer keys than
/// announced, the filter was emptied since.
/// @throws storage_error  the filter was emptied
template <typename Visit>
void visit_announced(const filter& f, const announcement& a, Visit visit) {
  const auto& layers = a.chain.of.layers;
  std::size_t next = 0;
  f.stored().visit_segments(
      0, [&](const segment_id& id, const layer_state& now, std::span<const std::byte> bits) {
        if (id.layer >= layers.size()) return;
        if (id.layer != next || now.keys < layers[next].keys || bits.size() != a.chain.lengths[next])
          emptied_meanwhile(f);
        visit(next++, bits);
      });
  if (a.has_bits && next < layers.size()) emptied_meanwhile(f);
}

void write_text(const image::byte_sink& to, std::string_view text) {
  to(std::as_bytes(std::span(text)));
}

/// Writes the bits of one layer after another, in pairs as RedisBloom would split them.
class layer_writer {
 public:
  layer_writer(std::string_view key, const image::byte_sink& to) : key_(key), to_(to), chunk_(chunk_bytes) {}

  void write(std::span<const std::byte> bits) {
    write_pairs(bits.size(), [&bits](std::span<std::byte> into) {
      convert_bytes(bits.first(into.size()), into);
      bits = bits.subspan(into.size());
    });
  }
  /// For a layer without keys.
  void write_zeros(std::uint64_t bytes) {
    write_pairs(bytes, [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{0}); });
  }

 private:
  /// @param fill  produces the next bytes in RedisBloom's bit order
  template <typename Fill>
  void write_pairs(std::uint64_t bytes, Fill fill) {
    while (bytes > 0) {
      const std::uint64_t pair = std::min<std::uint64_t>(bytes, redisbloom::max_chunk_bytes);
      iterator_ += static_cast<std::int64_t>(pair);
      write_text(to_, redisbloom::command_before(key_, {iterator_, pair}));
      for (std::uint64_t left = pair; left > 0;) {
        const auto part = std::span(chunk_).first(std::min<std::uint64_t>(left, chunk_bytes));
        fill(part);
        to_(part);
        left -= part.size();
      }
      write_text(to_, redisbloom::command_after);
      bytes -= pair;
    }
  }

  std::string_view key_;
  const image::byte_sink& to_;
  std::vector<std::byte> chunk_;
  std::int64_t iterator_ = 1;
};

}  // namespace

redisbloom_chunk dump_redisbloom(const filter& f, std::int64_t iterator) {
  if (f.get_spec().layout != layout_kind::redisbloom) throw no_such_export(f, "RedisBloom", "redisbloom");
  const announcement announced = announce(f);
  if (iterator == 0) return {1, redisbloom::encode_header(announced.chain)};
  if (iterator < 0) return {};
  const std::span<const std::uint64_t> lengths = announced.chain.lengths;
  auto at = static_cast<std::uint64_t>(iterator - 1);
  std::size_t wanted = 0;
  while (wanted < lengths.size() && at >= lengths[wanted]) at -= lengths[wanted++];
  if (wanted == lengths.size()) return {};
  const std::uint64_t count = std::min<std::uint64_t>(redisbloom::max_chunk_bytes, lengths[wanted] - at);
  redisbloom_chunk chunk{iterator + static_cast<std::int64_t>(count), std::vector<std::byte>(count)};
  visit_announced(f, announced, [&](std::size_t layer, std::span<const std::byte> bits) {
    if (layer == wanted) convert_bytes(bits.subspan(at, count), chunk.bytes);
  });
  return chunk;
}

void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& to) {
  if (f.get_spec().layout != layout_kind::redisbloom) throw no_such_export(f, "RedisBloom", "redisbloom");
  const announcement announced = announce(f);
  const std::vector<std::byte> header = redisbloom::encode_header(announced.chain);
  write_text(to, redisbloom::command_before(key, {1, header.size()}));
  to(header);
  write_text(to, redisbloom::command_after);

  layer_writer out(key, to);
  bool has_bits = false;
  visit_announced(f, announced, [&](std::size_t /*layer*/, std::span<const std::byte> bits) {
    has_bits = true;
    out.write(bits);
  });
  if (!has_bits)
    for (const std::uint64_t bytes : announced.chain.lengths) out.write_zeros(bytes);
}

}  // namespace everseen
