#include "everseen/filter/filter_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "everseen/compat/bitmap/bit_order.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/filter/foreign_refusals.hpp"
#include "everseen/filter/redisbloom_chunks.hpp"

namespace everseen {

namespace {

constexpr std::string_view magic = "evschunk";
constexpr std::size_t most_bits_bytes = std::size_t{16} << 20;
/// Limits the memory for chunks that arrive in a disorder.
constexpr std::size_t most_ranges = 4096;

[[noreturn]] void refuse(const std::string& why) {
  throw format_error("not the chunks of a filter: " + why);
}

void append(std::vector<std::byte>& to, std::uint64_t number) {
  std::array<std::byte, 8> bytes;
  store_le(bytes.data(), number);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// The bytes before the checksum of all of them.
std::span<const std::byte> checked(std::span<const std::byte> bytes, const std::string& what) {
  if (bytes.size() < 8) refuse(what + " is cut off");
  const auto content = bytes.first(bytes.size() - 8);
  if (load_le64(bytes.data() + content.size()) != checksum(content)) refuse(what + " is damaged");
  return content;
}

std::vector<announced_filter::segment> segments_of(const filter& f) {
  std::vector<announced_filter::segment> all;
  for (std::uint32_t partition = 0; partition < f.get_spec().partitions; ++partition) {
    const partition_state state = f.stored().state(partition);
    for (const slice_state& slice : state.slices)
      for (std::uint32_t i = 0; i < slice.layers.size(); ++i)
        all.push_back({{partition, slice.index, i}, slice.layers[i]});
  }
  return all;
}

/// magic, length of the manifest, manifest, keys of each segment, checksum
std::vector<std::byte> encode_header(const spec& s, std::span<const announced_filter::segment> segments) {
  image::manifest m;
  m.spec = s;
  m.clean = true;
  for (const auto& [id, layer] : segments) m.segments.push_back({id, layer.shape, layer.capacity});
  const std::vector<std::byte> manifest = image::encode_manifest(m);
  std::vector<std::byte> header;
  append(header, std::as_bytes(std::span(magic)));
  append(header, manifest.size());
  append(header, manifest);
  for (const auto& [id, layer] : segments) append(header, layer.keys);
  append(header, checksum(header));
  return header;
}

announced_filter decode_header(std::span<const std::byte> header) {
  auto rest = checked(header, "the header").subspan(magic.size());
  if (rest.size() < 8) refuse("the header is cut off");
  const std::uint64_t length = load_le64(rest.data());
  rest = rest.subspan(8);
  if (length > rest.size()) refuse("the header is cut off");
  const image::manifest m = image::decode_manifest(rest.first(length));
  rest = rest.subspan(length);
  if (rest.size() != 8 * m.segments.size()) refuse("the header has no count for each segment");
  announced_filter f{m.spec};
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    const image::manifest::entry& e = m.segments[i];
    f.segments.push_back({e.id, {e.shape, e.capacity, load_le64(rest.data() + 8 * i)}});
  }
  return f;
}

/// What follows the bits of a chunk: which segment they are of, from where on, and how many keys it has now.
/// A copy of a filter that changed meanwhile is recognised by it.
constexpr std::size_t trailer_bytes = 5 * 8;

void append_trailer(std::vector<std::byte>& to, const announced_filter::segment& s, std::uint64_t offset) {
  append(to, std::uint64_t{s.id.partition} << 32 | s.id.layer);
  append(to, static_cast<std::uint64_t>(s.id.slice));
  append(to, offset);
  append(to, s.layer.keys);
  append(to, checksum(to));
}

/// @return the bits    @throws format_error
std::span<const std::byte> without_trailer(std::span<const std::byte> chunk,
                                           const announced_filter::segment& s, std::uint64_t offset) {
  const auto content = checked(chunk, "a chunk");
  const std::byte* const trailer = content.data() + content.size() - (trailer_bytes - 8);
  if (load_le64(trailer) != (std::uint64_t{s.id.partition} << 32 | s.id.layer) ||
      load_le64(trailer + 8) != static_cast<std::uint64_t>(s.id.slice) || load_le64(trailer + 16) != offset ||
      load_le64(trailer + 24) < s.layer.keys)
    refuse(
        "a chunk is of another filter, or the filter grew or was emptied while it was copied; copy it again");
  return content.first(content.size() - (trailer_bytes - 8));
}

announced_filter announced_by(std::span<const std::byte> header) {
  const bool is_own =
      header.size() >= magic.size() && std::memcmp(header.data(), magic.data(), magic.size()) == 0;
  return is_own ? decode_header(header) : announced_by_redisbloom(header);
}

std::vector<std::uint64_t> lengths_of(const announced_filter& f) {
  std::vector<std::uint64_t> lengths;
  for (const auto& s : f.segments) lengths.push_back(s.layer.shape.bytes);
  return lengths;
}

/// The segment of a place among all bits, which becomes the place in that segment.
std::size_t segment_at(std::span<const announced_filter::segment> segments, std::uint64_t& at) {
  std::size_t i = 0;
  while (i < segments.size() && at >= segments[i].layer.shape.bytes) at -= segments[i++].layer.shape.bytes;
  return i;
}

}  // namespace

filter_chunk dump_chunk(const filter& f, std::int64_t iterator) {
  if (f.get_spec().layout == layout_kind::redisbloom) return dump_redisbloom(f, iterator);
  if (is_foreign(f.get_spec().layout))
    throw parameter_error(quoted_name(f.name()) + " has the layout of another system, which has no chunks");
  if (iterator < 0) return {};
  std::vector<announced_filter::segment> segments = segments_of(f);
  if (iterator == 0) return {1, encode_header(f.get_spec(), segments)};
  auto at = static_cast<std::uint64_t>(iterator - 1);
  const std::size_t i = segment_at(segments, at);
  if (i == segments.size()) return {};
  announced_filter::segment& wanted = segments[i];
  const std::uint64_t count = std::min<std::uint64_t>(most_bits_bytes, wanted.layer.shape.bytes - at);
  filter_chunk chunk{iterator + static_cast<std::int64_t>(count)};
  f.stored().visit_segments(wanted.id.partition, [&](const segment_id& id, const layer_state& now,
                                                     std::span<const std::byte> bits) {
    if (id != wanted.id || bits.size() != wanted.layer.shape.bytes) return;
    wanted.layer.keys = now.keys;
    chunk.bytes.reserve(count + trailer_bytes);
    append(chunk.bytes, bits.subspan(at, count));
  });
  if (chunk.bytes.empty())
    throw storage_error(quoted_name(f.name()) + " was emptied while it was copied; copy it again", 0,
                        f.name());
  append_trailer(chunk.bytes, wanted, at);
  return chunk;
}

chunk_loader::chunk_loader(store& into, std::string_view name, std::span<const std::byte> header)
    : announced_(announced_by(header)) {
  must_have_room(into, lengths_of(announced_));
  restored_ = into.begin_restore(name, announced_.spec);
}

chunk_loader::spot chunk_loader::spot_of(std::int64_t iterator, std::uint64_t bytes) const {
  const std::string name = "chunk " + std::to_string(iterator);
  if (iterator < 1 || bytes == 0 || bytes > static_cast<std::uint64_t>(iterator) - 1)
    refuse(name + " has " + std::to_string(bytes) + " bytes");
  spot found{0, static_cast<std::uint64_t>(iterator) - 1 - bytes};
  found.segment = segment_at(announced_.segments, found.offset);
  if (found.segment == announced_.segments.size()) refuse(name + " is behind its end");
  if (bytes > announced_.segments[found.segment].layer.shape.bytes - found.offset)
    refuse(name + " does not end with its segment");
  return found;
}

std::span<std::byte> chunk_loader::bits_of(const spot& at, std::uint64_t bytes) {
  while (made_.size() <= at.segment) {
    const auto& [id, layer] = announced_.segments[made_.size()];
    made_.push_back(restored_->add_segment(id, layer));
    bytes_made_ += layer.shape.bytes;
  }
  return made_[at.segment].subspan(at.offset, bytes);
}

void chunk_loader::note_loaded(std::uint64_t begin, std::uint64_t end) {
  auto next = loaded_.upper_bound(begin);
  if (next != loaded_.begin() && std::prev(next)->second >= begin) {
    --next;
    begin = next->first;
  }
  while (next != loaded_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = loaded_.erase(next);
  }
  loaded_.emplace(begin, end);
  if (loaded_.size() > most_ranges) refuse("its chunks come in too many separate pieces; send them in order");
}

std::span<std::byte> chunk_loader::place(std::int64_t iterator, std::uint64_t bytes) {
  const std::span<std::byte> bits = bits_of(spot_of(iterator, bytes), bytes);
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  note_loaded(end - bytes, end);
  return bits;
}

void chunk_loader::load(std::int64_t iterator, std::span<const std::byte> bytes) {
  if (announced_.is_redisbloom) {
    compat::reverse_bits_of_bytes(bytes, place(iterator, bytes.size()));
    return;
  }
  if (bytes.size() <= trailer_bytes) refuse("chunk " + std::to_string(iterator) + " is cut off");
  const std::uint64_t count = bytes.size() - trailer_bytes;
  const spot at = spot_of(iterator, count);
  const auto bits = without_trailer(bytes, announced_.segments[at.segment], at.offset);
  std::ranges::copy(bits, place(iterator, count).begin());
}

bool chunk_loader::is_complete() const noexcept {
  const std::uint64_t all = announced_.bit_bytes();
  return all == 0 ||
         (loaded_.size() == 1 && *loaded_.begin() == std::pair<const std::uint64_t, std::uint64_t>(0, all));
}

void chunk_loader::commit() {
  if (!is_complete()) refuse("it is cut off: some are missing");
  restored_->commit();
}

}  // namespace everseen
