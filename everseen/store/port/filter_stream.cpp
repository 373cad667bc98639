#include "everseen/store/port/filter_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

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

void read_stream(store& into, std::string_view name, const image::byte_source& from) {
  image::stream_reader in(from);
  const auto restored = into.begin_restore(name, in.get_spec());
  while (const auto header = in.next()) {
    std::span<std::byte> place =
        restored->add_segment(header->id, {header->shape, header->capacity, header->keys});
    in.read_bits([&place](std::span<const std::byte> bytes) {
      std::copy(bytes.begin(), bytes.end(), place.begin());
      place = place.subspan(bytes.size());
    });
  }
  std::byte beyond{};
  if (from({&beyond, 1}) != 0)
    throw format_error("more bytes follow the end of the stream; import takes one stream and nothing else");
  restored->commit();
}

}  // namespace everseen
