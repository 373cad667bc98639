// What decodes must encode to the very same bytes: so no image has two meanings and nothing in it is ignored.

#include <algorithm>
#include <cstdlib>
#include <span>

#include "everseen/core/error.hpp"
#include "everseen/core/image.hpp"

namespace {

template <typename Decode, typename Encode>
void check_round_trip(std::span<const std::byte> bytes, Decode decode, Encode encode) {
  try {
    const auto again = encode(decode(bytes));
    if (!std::ranges::equal(again, bytes)) std::abort();
  } catch (const everseen::error&) {
    // refused, as most inputs should be
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace everseen::image;
  const auto bytes = std::as_bytes(std::span(data, size));
  check_round_trip(bytes, decode_spec, encode_spec);
  check_round_trip(bytes, decode_segment_header, encode_segment_header);
  check_round_trip(bytes, decode_manifest, encode_manifest);
  return 0;
}
