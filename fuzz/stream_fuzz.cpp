// A stream that reads to its end must be written again byte for byte.
//
// Decodes: everseen/core/format/stream_image.cpp

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/stream_image.hpp"

namespace {

using namespace everseen;
using bytes = std::vector<std::byte>;

constexpr std::size_t head_bytes = 32 + image::spec_bytes;
constexpr std::size_t end_bytes = 32;

bytes write_again(image::stream_reader& in) {
  bytes written;
  image::stream_writer out([&](auto piece) { written.insert(written.end(), piece.begin(), piece.end()); },
                           in.name(), in.get_spec(), in.id());
  while (const auto header = in.next()) {
    bytes bits;
    in.read_bits([&](auto piece) { bits.insert(bits.end(), piece.begin(), piece.end()); });
    out.segment(header->id, {header->shape, header->capacity, header->keys}, bits);
  }
  out.finish();
  return written;
}

void check(std::span<const std::byte> input) {
  auto rest = input;
  const auto source = [&rest](std::span<std::byte> to) {
    const std::size_t n = std::min(to.size(), rest.size());
    std::memcpy(to.data(), rest.data(), n);
    rest = rest.subspan(n);
    return n;
  };
  try {
    image::stream_reader in(source);
    const bytes again = write_again(in);
    if (!std::ranges::equal(again, input.first(input.size() - rest.size()))) std::abort();
  } catch (const error&) {
    // refused, as most inputs should be
  }
}

void reseal(std::span<std::byte> part, std::size_t covered) {
  store_le(part.data() + part.size() - 8, checksum(part.first(covered)));
}

/// Corrects the checksums of the head, the segments and the end; otherwise no input would pass them.
void reseal_stream(std::span<std::byte> stream) {
  const auto name_bytes = std::min<std::size_t>(load_le<std::uint32_t>(stream.data() + 12), 100);
  std::size_t at = head_bytes + name_bytes + 8;
  if (stream.size() < at + end_bytes) return;
  reseal(stream.subspan(32, image::spec_bytes), image::spec_bytes - 8);
  reseal(stream.first(at), at - 8);
  while (stream.size() - at > image::segment_header_bytes + end_bytes) {
    const auto header = stream.subspan(at, image::segment_header_bytes);
    const auto keys = load_le64(header.data() + image::key_count_offset);
    store_le(header.data() + image::key_count_offset, image::encode_key_count(keys));
    reseal(header, image::key_count_offset);
    const std::uint64_t bits = load_le64(header.data() + 48);
    at += image::segment_header_bytes;
    if (bits > stream.size() - at - end_bytes || stream.size() - at - end_bytes - bits < 8) break;
    reseal(stream.subspan(at, bits + 8), bits);
    at += bits + 8;
  }
  reseal(stream, stream.size() - 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check(input);
  if (size < head_bytes) return 0;
  bytes sealed(input.begin(), input.end());
  reseal_stream(sealed);
  check(sealed);
  return 0;
}
