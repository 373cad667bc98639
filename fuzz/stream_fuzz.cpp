// A stream that reads to its end must be written again byte for byte.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/core/stream_image.hpp"

namespace {

using bytes = std::vector<std::byte>;

bytes write_again(everseen::image::stream_reader& in) {
  bytes written;
  everseen::image::stream_writer out(
      [&](auto piece) { written.insert(written.end(), piece.begin(), piece.end()); }, in.name(),
      in.get_spec(), in.id());
  while (const auto header = in.next()) {
    bytes bits;
    in.read_bits([&](auto piece) { bits.insert(bits.end(), piece.begin(), piece.end()); });
    out.segment(header->id, {header->shape, header->capacity, header->keys}, bits);
  }
  out.finish();
  return written;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  auto rest = input;
  const auto source = [&rest](std::span<std::byte> to) {
    const std::size_t n = std::min(to.size(), rest.size());
    std::memcpy(to.data(), rest.data(), n);
    rest = rest.subspan(n);
    return n;
  };
  try {
    everseen::image::stream_reader in(source);
    const bytes again = write_again(in);
    if (!std::ranges::equal(again, input.first(input.size() - rest.size()))) std::abort();
  } catch (const everseen::error&) {
    // refused, as most inputs should be
  }
  return 0;
}
