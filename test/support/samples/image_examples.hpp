#pragma once

#include <vector>

#include "everseen/core/format/file_records.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/format/stream_image.hpp"

/// The worked example of doc/format.md.
namespace everseen::test {

inline spec example_spec() {
  spec s;
  s.capacity = 1000;
  s.error_rate = 0.01;
  s.layout = layout_kind::line_8x64;
  s.probes = 8;
  s.hash = hash_kind::xxh3;
  for (std::uint8_t i = 0; i < 16; ++i) s.seed[i] = i;
  s.growth = growth_kind::overfill;
  s.window = window_spec{std::chrono::minutes(10), 2};
  s.partitions = 1;
  return s;
}

inline image::filter_id example_id() {
  image::filter_id id;
  for (std::uint8_t i = 0; i < 16; ++i) id[i] = static_cast<std::uint8_t>(0xf0 + i);
  return id;
}

inline constexpr geometry example_shape = {layout_kind::line_8x64, 8, 128};

inline image::segment_header example_header() {
  return {example_id(), {0, 3, 0}, example_shape, 500, 7};
}

inline image::manifest example_manifest() {
  image::manifest m;
  m.filter = example_id();
  m.revision = 5;
  m.spec = example_spec();
  m.segments = {{{0, 3, 0}, example_shape, 500}};
  return m;
}

inline predecessor example_link() {
  return {"clicks", event_time(std::chrono::milliseconds(1'700'000'000'000))};
}

inline std::vector<std::byte> example_stream() {
  std::vector<std::byte> bytes;
  image::stream_writer out([&](auto piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); },
                           "clicks", example_spec(), example_id());
  std::vector<std::byte> bits(example_shape.bytes);
  bits[1] = std::byte{0x80};
  out.segment({0, 3, 0}, {example_shape, 500, 7}, bits);
  out.finish();
  return bytes;
}

}  // namespace everseen::test
