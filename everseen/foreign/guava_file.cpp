#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/foreign/guava/guava.hpp"

namespace everseen {

namespace {

namespace guava = foreign::guava;

/// Reads until `into` is full or the source ends.    @return the number of bytes read
std::size_t read_all(const image::byte_source& from, std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const std::size_t got = from(into.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

/// The number of keys at which half of the bits are set: m / k · ln 2. Guava sizes filters for it.
std::uint64_t keys_for(const guava::shape& s) {
  const double keys = static_cast<double>(s.bits()) / s.probes * std::numbers::ln2;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(keys)));
}

spec spec_of(const guava::shape& s, const guava_facts& facts) {
  foreign_sizes::must_be_settable(s.probes);
  spec made;
  made.layout = s.algorithm == guava::strategy::mitz_32 ? layout_kind::guava32 : layout_kind::guava64;
  made.hash = foreign_sizes::hash_of(made.layout);
  made.growth = growth_kind::overfill;
  made.capacity = facts.capacity.value_or(keys_for(s));
  made.probes = s.probes;
  made.foreign.funnel = facts.funnel;
  made.foreign.first_bytes = s.words * sizeof(std::uint64_t);
  const geometry shape = {made.layout, s.probes, made.foreign.first_bytes};
  made.error_rate = std::clamp(sizing::error_rate(shape, static_cast<double>(made.capacity)),
                               sizing::min_error_rate, std::nextafter(1.0, 0.0));
  validate(made);
  return made;
}

[[noreturn]] void cut_off(std::uint64_t read, std::uint64_t promised) {
  throw format_error("not a Guava filter: its header promises " + std::to_string(promised) +
                     " bytes of bits, and " + std::to_string(read) + " follow");
}

}  // namespace

void import_guava(store& into, std::string_view name, const foreign_source& from, const guava_facts& facts) {
  std::array<std::byte, guava::stream_header_bytes> header{};
  const guava::shape s = guava::decode_header(std::span(header).first(read_all(from.read, header)));
  const std::uint64_t bytes = s.words * sizeof(std::uint64_t);
  if (from.bytes && *from.bytes != header.size() + bytes) cut_off(*from.bytes - header.size(), bytes);
  const spec made = spec_of(s, facts);
  must_have_room(into, {{bytes}});

  const auto restored = into.begin_restore(name, made);
  const geometry shape = {made.layout, made.probes, bytes};
  std::span<std::byte> place = restored->add_segment({0, window::timeless, 0}, {shape, made.capacity, 0});
  std::vector<std::byte> chunk(std::min<std::uint64_t>(foreign_buffer_bytes, bytes));
  while (!place.empty()) {
    const auto part = std::span(chunk).first(std::min(chunk.size(), place.size()));
    if (const std::size_t got = read_all(from.read, part); got < part.size())
      cut_off(bytes - place.size() + got, bytes);
    guava::convert_words(part, place.first(part.size()));
    place = place.subspan(part.size());
  }
  if (from.read(std::span(header).first(1)) != 0)
    throw format_error("not a Guava filter: more bytes follow than its header promises");
  restored->commit();  // counts the keys from the bits
}

void export_guava(const filter& f, const image::byte_sink& out) {
  const spec& s = f.get_spec();
  if (s.layout != layout_kind::guava32 && s.layout != layout_kind::guava64)
    throw no_such_export(f, "Guava", "guava64");
  const guava::strategy algorithm =
      s.layout == layout_kind::guava32 ? guava::strategy::mitz_32 : guava::strategy::mitz_64;
  out(guava::encode_header({algorithm, s.probes, s.foreign.first_bytes / sizeof(std::uint64_t)}));
  std::vector<std::byte> chunk(foreign_buffer_bytes);
  std::uint64_t left = s.foreign.first_bytes;
  f.stored().visit_segments(0, [&](const segment_id&, const layer_state&, std::span<const std::byte> bits) {
    for (; !bits.empty(); bits = bits.subspan(std::min(bits.size(), foreign_buffer_bytes))) {
      const auto part = std::span(chunk).first(std::min(bits.size(), foreign_buffer_bytes));
      guava::convert_words(bits.first(part.size()), part);
      out(part);
      left -= part.size();
    }
  });
  std::ranges::fill(chunk, std::byte{0});  // segments without keys were never created
  for (; left > 0; left -= std::min<std::uint64_t>(left, foreign_buffer_bytes))
    out(std::span(chunk).first(std::min<std::uint64_t>(left, foreign_buffer_bytes)));
}

}  // namespace everseen
