#include "everseen/core/format/stream_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/image_fields.hpp"

// The bytes: doc/format.md, "Export stream". All of them pass write() or read(), which add them to the
// checksum of the whole stream; a segment has a checksum of its own as well, so that damage is found before
// the end and can be named. What the reader has checked, it has checked before use: sizes against the limits
// before bits are passed on.

namespace everseen::image {

namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;
constexpr std::size_t stream_head_bytes = 32 + spec_bytes;  // before the name
constexpr std::size_t stream_end_bytes = 32;

}  // namespace

stream_writer::stream_writer(byte_sink output, std::string_view name, const spec& s, const filter_id& id)
    : out_(std::move(output)), id_(id), chunk_(chunk_bytes) {
  validate_filter_name(name);
  const std::size_t length = stream_head_bytes + name.size() + fields::checksum_bytes;
  fields::writer out{std::span(chunk_).first(length)};
  out.begin(fields::stream_magic);
  out.put(static_cast<std::uint32_t>(name.size()));
  out.put(std::as_bytes(std::span(id)));
  out.put(std::span<const std::byte>(encode_spec(s)));
  out.put(std::as_bytes(std::span(name)));
  out.seal();
  write(std::span(chunk_).first(length));
}

void stream_writer::segment(const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
  EVERSEEN_ASSERT(bits.size() == layer.shape.bytes);
  write(encode_segment_header({id_, id, layer.shape, layer.capacity, layer.keys}));
  one_.reset();
  ++segments_;
  bit_bytes_ += bits.size();
  while (!bits.empty()) {
    const auto chunk = std::span(chunk_).first(std::min(bits.size(), chunk_bytes));
    std::memcpy(chunk.data(), bits.data(), chunk.size());
    one_.update(chunk);
    write(chunk);
    bits = bits.subspan(chunk.size());
  }
  std::array<std::byte, fields::checksum_bytes> sum;
  store_le(sum.data(), one_.value());
  write(sum);
}

void stream_writer::finish() {
  std::array<std::byte, stream_end_bytes> bytes{};
  fields::writer out(bytes);
  out.put(std::as_bytes(std::span(fields::end_magic)));
  out.put(segments_);
  out.put(bit_bytes_);
  whole_.update(std::span(bytes).first(stream_end_bytes - fields::checksum_bytes));
  out.put(whole_.value());
  out_(bytes);
}

void stream_writer::write(std::span<const std::byte> bytes) {
  whole_.update(bytes);
  out_(bytes);
}

stream_reader::stream_reader(byte_source from, const stream_limits& limits)
    : from_(std::move(from)), limits_(limits), chunk_(chunk_bytes) {
  read_head();
}

void stream_reader::read_head() {
  const std::span<std::byte> head = std::span(chunk_).first(stream_head_bytes);
  // Alone at first: a short file of another kind is not a truncated stream.
  const auto magic = head.first(fields::magic_bytes);
  read(magic, "header");
  if (std::memcmp(magic.data(), fields::stream_magic.data(), magic.size()) != 0)
    throw format_error("it does not begin as a stream of everseen export does");
  read(head.subspan(magic.size()), "header");
  fields::reader in("export stream",
                    std::span(chunk_).first(stream_head_bytes + max_name_bytes + fields::checksum_bytes));
  in.begin(fields::stream_magic);
  const auto name_length = in.get<std::uint32_t>();
  if (name_length < 1 || name_length > max_name_bytes)
    in.refuse("its name is " + std::to_string(name_length) + " bytes long");
  const auto rest = std::span(chunk_).subspan(stream_head_bytes, name_length + fields::checksum_bytes);
  read(rest, "header");
  in.check_seal(stream_head_bytes + name_length, stream_head_bytes + name_length);
  in.get(id_);
  spec_ = decode_spec(in.take(spec_bytes));
  const auto name = in.take(name_length);
  name_.assign(reinterpret_cast<const char*>(name.data()), name.size());
  validate_filter_name(name_);
}

std::optional<segment_header> stream_reader::next() {
  if (in_segment_) read_bits([](std::span<const std::byte>) {});
  if (ended_) return std::nullopt;
  std::array<std::byte, segment_header_bytes> bytes;
  const auto magic = std::span(bytes).first(fields::magic_bytes);
  read(magic, "list of segments");
  if (std::memcmp(magic.data(), fields::end_magic.data(), magic.size()) == 0) {
    check_end(std::span(bytes).first(stream_end_bytes));
    return std::nullopt;
  }
  return read_segment_header(bytes);
}

segment_header stream_reader::read_segment_header(std::span<std::byte> bytes) {
  // Before reading the rest: bytes that begin no record would otherwise look like a truncated stream.
  fields::reader in("segment in the export stream", bytes);
  if (std::memcmp(bytes.data(), fields::segment_magic.data(), fields::magic_bytes) != 0)
    in.refuse("neither a segment nor the end of the stream begins here");
  read(bytes.subspan(fields::magic_bytes), "segment header");
  const segment_header header = decode_segment_header(bytes);
  if (header.filter != id_) in.refuse("it belongs to another filter");
  fields::segment_order(spec_, last_).check(in, header.id, header.shape, header.capacity);
  if (header.shape.bytes > limits_.segment_bytes || header.shape.bytes > limits_.total_bytes - bit_bytes_)
    throw format_error("the export stream asks for a segment of " + std::to_string(header.shape.bytes) +
                       " bytes, beyond the limit of " + std::to_string(limits_.segment_bytes) +
                       " for one and " + std::to_string(limits_.total_bytes) +
                       " for all; raise the limit if you trust the stream");
  last_ = header.id;
  ++segments_;
  bit_bytes_ += header.shape.bytes;
  pending_ = header.shape.bytes;
  in_segment_ = true;
  one_.reset();
  return header;
}

void stream_reader::read_bits(const byte_sink& into) {
  EVERSEEN_ASSERT(in_segment_);
  while (pending_ > 0) {
    const auto chunk = std::span(chunk_).first(std::min<std::uint64_t>(pending_, chunk_bytes));
    read(chunk, "bits of a segment");
    one_.update(chunk);
    pending_ -= chunk.size();
    into(chunk);
  }
  std::array<std::byte, fields::checksum_bytes> sum;
  read(sum, "checksum of a segment");
  in_segment_ = false;
  if (load_le64(sum.data()) != one_.value())
    throw format_error("the export stream is damaged: the checksum of segment " + to_string(*last_) +
                       " does not fit its bits; export again");
}

void stream_reader::check_end(std::span<std::byte> bytes) {
  read(bytes.subspan(fields::magic_bytes, stream_end_bytes - fields::magic_bytes - fields::checksum_bytes),
       "end record");
  const std::uint64_t whole = whole_.value();  // before read() adds the checksum itself
  read(bytes.last(fields::checksum_bytes), "end record");
  fields::reader in("end of the export stream", bytes);
  (void)in.take(fields::magic_bytes);
  if (in.get<std::uint64_t>() != segments_ || in.get<std::uint64_t>() != bit_bytes_)
    in.refuse("its counts do not fit the " + std::to_string(segments_) + " segments before it");
  if (in.get<std::uint64_t>() != whole) in.refuse("its checksum does not fit the stream");
  ended_ = true;
}

void stream_reader::read(std::span<std::byte> out, std::string_view subject) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const std::size_t got = from_(out.subspan(filled));
    EVERSEEN_ASSERT(got <= out.size() - filled);
    if (got == 0)
      throw format_error("the export stream was cut off in its " + std::string(subject) + "; export again");
    filled += got;
  }
  whole_.update(out);
}

}  // namespace everseen::image
