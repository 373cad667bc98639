// Anything that decodes must encode to the same bytes: so no image has two meanings and nothing in it is
// ignored.
//
// Decodes: everseen/core/format/image.cpp, everseen/core/format/image_fields.cpp,
// everseen/core/format/file_records.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/file_records.hpp"
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

void check_key_count(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(std::uint64_t)) return;
  try {
    const std::uint64_t word = load_le64(bytes.data());
    if (image::encode_key_count(image::decode_key_count(word)) != word) std::abort();
  } catch (const error&) {
    // refused
  }
}

/// Corrects the checksum at the end of `image` for its first `covered` bytes; otherwise no input would pass
/// it.
void reseal(std::span<std::byte> image, std::size_t covered) {
  store_le(image.data() + image.size() - 8, checksum(image.first(covered)));
}

/// What else is told of a filter by its manifest: it is the same for all who read it.
void check_identity(std::span<const std::byte> bytes) {
  try {
    const image::manifest m = image::decode_manifest(bytes);
    if (fingerprint_of(m.spec) != fingerprint_of(image::decode_manifest(bytes).spec)) std::abort();
    const image::filter_id emptied = image::id_after_reset(m.filter);
    if (emptied == m.filter || !image::are_same_but_for_resets(emptied, m.filter)) std::abort();
    if (!m.segments.empty() && image::to_string(m.segments.front().id).empty()) std::abort();
  } catch (const error&) {
    // refused
  }
}

void check_all(std::span<const std::byte> bytes) {
  check_identity(bytes);
  check_round_trip(bytes, image::decode_spec, image::encode_spec);
  check_round_trip(bytes, image::decode_segment_header, image::encode_segment_header);
  check_round_trip(bytes, image::decode_manifest, image::encode_manifest);
  check_round_trip(bytes, image::decode_link, image::encode_link);
  check_round_trip(bytes, image::decode_end, image::encode_end);
  check_key_count(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check_all(input);
  if (size < 8) return 0;

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
