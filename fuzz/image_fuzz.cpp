// Anything that decodes must encode to the same bytes: so no image has two meanings and nothing in it is
// ignored.

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"

namespace {

using namespace everseen;

constexpr std::size_t manifest_spec_offset = 48;

template <typename Decode, typename Encode>
void check_round_trip(std::span<const std::byte> bytes, Decode decode, Encode encode) {
  try {
    const auto again = encode(decode(bytes));
    if (!std::ranges::equal(again, bytes)) std::abort();
  } catch (const error&) {
    // refused, as most inputs should be
  }
}

/// Corrects the checksum at the end of `image` for its first `covered` bytes; otherwise no input would pass
/// it.
void reseal(std::span<std::byte> image, std::size_t covered) {
  store_le(image.data() + image.size() - 8, checksum(image.first(covered)));
}

void check_all(std::span<const std::byte> bytes) {
  check_round_trip(bytes, image::decode_spec, image::encode_spec);
  check_round_trip(bytes, image::decode_segment_header, image::encode_segment_header);
  check_round_trip(bytes, image::decode_manifest, image::encode_manifest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check_all(input);
  if (size < image::spec_bytes) return 0;

  std::vector<std::byte> sealed(input.begin(), input.end());
  if (size == image::segment_header_bytes) {
    const auto keys = load_le64(sealed.data() + image::key_count_offset);
    store_le(sealed.data() + image::key_count_offset, image::encode_key_count(keys));
    reseal(sealed, image::key_count_offset);
    check_all(sealed);
  }
  if (size >= manifest_spec_offset + image::spec_bytes + 8)
    reseal(std::span(sealed).subspan(manifest_spec_offset, image::spec_bytes), image::spec_bytes - 8);
  reseal(sealed, size - 8);
  check_all(sealed);
  return 0;
}
