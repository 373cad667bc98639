#include "everseen/core/format/chunk_image.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"

namespace everseen::image {

namespace {

constexpr std::string_view magic = "evschunk";
constexpr std::array<std::uint8_t, 16> no_successor{};
constexpr std::uint64_t max_bits_bytes = std::uint64_t{1} << 59;  // also the most that one segment has
constexpr std::size_t partition_bytes = 8 + no_successor.size();  // the partition and the successor

[[noreturn]] void refuse(const std::string& why) {
  throw format_error("not the chunks of a filter: " + why);
}

void append(std::vector<std::byte>& out, std::uint64_t number) {
  std::array<std::byte, 8> bytes;
  store_le(bytes.data(), number);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// The bytes before the trailing checksum, which is verified.
std::span<const std::byte> checked(std::span<const std::byte> bytes, const std::string& subject) {
  if (bytes.size() < 8) refuse(subject + " is cut off");
  const auto content = bytes.first(bytes.size() - 8);
  if (load_le64(bytes.data() + content.size()) != checksum(content)) refuse(subject + " is damaged");
  return content;
}

/// The partition and the layer of a segment in one word.
std::uint64_t place_of(const segment_id& id) noexcept {
  return std::uint64_t{id.partition} << 32 | id.layer;
}

}  // namespace

/// magic, content, length of the manifest, manifest, keys of each segment, partition, successor, checksum
std::vector<std::byte> encode_chunk_header(const announced_filter& f) {
  manifest m;
  m.spec = f.spec;
  m.clean = true;
  for (const auto& [id, layer] : f.segments) m.segments.push_back({id, layer.shape, layer.capacity});
  const std::vector<std::byte> list = encode_manifest(m);
  std::vector<std::byte> header;
  append(header, std::as_bytes(std::span(magic)));
  append(header, static_cast<std::uint64_t>(f.content));
  append(header, list.size());
  append(header, list);
  for (const auto& [id, layer] : f.segments) append(header, layer.keys);
  append(header, std::uint64_t{f.partition});
  const auto& successor = f.successor ? *f.successor : no_successor;
  append(header, std::as_bytes(std::span(successor)));
  append(header, checksum(header));
  return header;
}

bool is_chunk_header(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

announced_filter decode_chunk_header(std::span<const std::byte> header) {
  auto rest = checked(header, "the header");
  if (rest.size() < magic.size() + 16) refuse("the header is cut off");
  rest = rest.subspan(magic.size());
  const content_id content{load_le64(rest.data())};
  const std::uint64_t length = load_le64(rest.data() + 8);
  rest = rest.subspan(16);
  if (length > rest.size()) refuse("the header is cut off");
  const manifest m = decode_manifest(rest.first(length));
  rest = rest.subspan(length);
  if (rest.size() != 8 * m.segments.size() + partition_bytes)
    refuse("the header has no count for each segment");
  announced_filter f{m.spec};
  f.content = content;
  const std::byte* const end = rest.data() + 8 * m.segments.size();
  if (load_le64(end) >= m.spec.partitions)
    refuse("the header is of a partition that the filter does not have");
  f.partition = static_cast<std::uint32_t>(load_le64(end));
  std::array<std::uint8_t, 16> successor;
  std::memcpy(successor.data(), end + 8, successor.size());
  if (successor != no_successor) f.successor = successor;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    const manifest::entry& e = m.segments[i];
    bytes += e.shape.bytes;
    if (bytes > max_bits_bytes) refuse("its segments are larger than any memory");
    f.segments.push_back({e.id, {e.shape, e.capacity, load_le64(rest.data() + 8 * i)}});
  }
  return f;
}

void append_chunk_trailer(std::vector<std::byte>& bits, content_id content,
                          const announced_filter::segment& source, std::uint64_t offset) {
  append(bits, static_cast<std::uint64_t>(content));
  append(bits, place_of(source.id));
  append(bits, static_cast<std::uint64_t>(source.id.slice));
  append(bits, offset);
  append(bits, source.layer.keys);
  append(bits, checksum(bits));
}

chunk_bits decode_chunk(std::span<const std::byte> chunk) {
  if (chunk.size() < chunk_trailer_bytes) refuse("a chunk is cut off");
  const auto content = checked(chunk, "a chunk");
  const std::size_t bits = chunk.size() - chunk_trailer_bytes;
  const auto field = [&](std::size_t index) { return load_le64(content.data() + bits + 8 * index); };
  constexpr unsigned half = 32;
  return {content_id{field(0)},
          {static_cast<std::uint32_t>(field(1) >> half), static_cast<window::slice_index>(field(2)),
           static_cast<std::uint32_t>(field(1))},
          field(3),
          field(4),
          content.first(bits)};
}

std::span<const std::byte> without_chunk_trailer(std::span<const std::byte> chunk, content_id content,
                                                 const announced_filter::segment& source,
                                                 std::uint64_t offset) {
  const chunk_bits read = decode_chunk(chunk);
  if (read.content != content)
    refuse("a chunk is of another filter, or of another copy that was begun under the same name");
  if (read.id != source.id || read.offset != offset || read.keys < source.layer.keys)
    refuse("the filter grew or was emptied while it was copied; copy it again");
  return read.bits;
}

content_id dumped_content(const spec& s) {
  return content_id{read_number(fingerprint_of(s).substr(0, 16), 16).value()};
}

std::optional<chunk_place> place_after(std::span<const announced_filter::segment> segments,
                                       std::int64_t iterator) noexcept {
  if (iterator < 1) return std::nullopt;
  chunk_place place{0, static_cast<std::uint64_t>(iterator) - 1};
  for (; place.segment < segments.size(); ++place.segment) {
    const std::uint64_t bytes = segments[place.segment].layer.shape.bytes;
    if (place.offset < bytes) return place;
    place.offset -= bytes;
  }
  return std::nullopt;
}

chunk_place place_of_chunk(std::span<const announced_filter::segment> segments, std::int64_t iterator,
                           std::uint64_t bytes) {
  const auto refuse = [&](const std::string& why) {
    throw format_error("not the chunks of a filter: chunk " + std::to_string(iterator) + why);
  };
  if (iterator < 1 || bytes == 0 || bytes > static_cast<std::uint64_t>(iterator) - 1)
    refuse(" has " + std::to_string(bytes) + " bytes");
  const auto found = place_after(segments, iterator - static_cast<std::int64_t>(bytes));
  if (!found) refuse(" is past its end");
  if (bytes > segments[found->segment].layer.shape.bytes - found->offset)
    refuse(" does not end with its segment");
  return *found;
}

}  // namespace everseen::image

namespace everseen {

std::vector<announced_filter::segment> segments_of(std::uint32_t partition,
                                                   const std::vector<slice_state>& slices) {
  std::vector<announced_filter::segment> all;
  for (const slice_state& slice : slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer)
      all.push_back({{partition, slice.index, layer}, slice.layers[layer]});
  return all;
}

partition_state state_of(const announced_filter& f) {
  partition_state state;
  for (const auto& [id, layer] : f.segments) {
    if (id.partition != f.partition) throw format_error("its header has a segment of another partition");
    if (state.slices.empty() || state.slices.back().index != id.slice) state.slices.push_back({id.slice, {}});
    std::vector<layer_state>& layers = state.slices.back().layers;
    if (id.layer != layers.size()) throw format_error("its header has a layer too few or too many");
    layers.push_back(layer);
  }
  return state;
}

}  // namespace everseen
