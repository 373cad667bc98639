#include "everseen/store/port/filter_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/stream_image.hpp"

namespace everseen {

void write_stream(const stored_filter& from, std::string_view name, const image::byte_sink& out) {
  image::stream_writer stream(out, name, from.get_spec());
  for (std::uint32_t p = 0; p < from.get_spec().partitions; ++p)
    from.visit_segments(p, [&stream](const segment_id& id, const layer_state& layer,
                                     std::span<const std::byte> bits) { stream.segment(id, layer, bits); });
  stream.finish();
}

namespace {

/// The numbers of a stream are not trusted: memory or disk space for bits that never come is not reserved.
class room_for_bits {
 public:
  room_for_bits(std::optional<std::uint64_t> in_source, std::optional<std::uint64_t> in_store)
      : source_bytes_(in_source), store_bytes_(in_store) {}

  void note_read(std::uint64_t bytes) noexcept { read_ += bytes; }

  void must_have(std::uint64_t segment_bytes) {
    if (source_bytes_ && segment_bytes + read_ > *source_bytes_)
      throw format_error("the export stream was cut off: it announces a segment of " +
                         std::to_string(segment_bytes) + " bytes, and " +
                         std::to_string(*source_bytes_ - std::min(read_, *source_bytes_)) +
                         " bytes follow; export again");
    bits_ += segment_bytes;
    if (store_bytes_ && bits_ > *store_bytes_)
      throw parameter_error("the export stream announces segments of " + std::to_string(bits_) +
                            " bytes, and the store has room for " + std::to_string(*store_bytes_) +
                            "; make room, or use another store");
  }

 private:
  std::optional<std::uint64_t> source_bytes_;
  std::optional<std::uint64_t> store_bytes_;
  std::uint64_t read_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace

void read_stream(store& into, std::string_view name, const image::byte_source& from,
                 std::optional<std::uint64_t> bytes) {
  room_for_bits room(bytes, into.traits().room_bytes);
  image::stream_reader in([&](std::span<std::byte> target) {
    const std::size_t got = from(target);
    room.note_read(got);
    return got;
  });
  const auto restored = into.begin_restore(name, in.get_spec());
  while (const auto header = in.next()) {
    room.must_have(header->shape.bytes);
    std::span<std::byte> place =
        restored->add_segment(header->id, {header->shape, header->capacity, header->keys});
    in.read_bits([&place](std::span<const std::byte> piece) {
      std::copy(piece.begin(), piece.end(), place.begin());
      place = place.subspan(piece.size());
    });
  }
  std::byte beyond{};
  if (from({&beyond, 1}) != 0)
    throw format_error("more bytes follow the end of the stream; import takes one stream and nothing else");
  restored->commit();
}

}  // namespace everseen
