// Chunks of BF.LOADCHUNK, in both forms: a filter that loads answers for any key, and is dumped as it was
// loaded.
//
// An input is a sequence of pairs: 2 bytes of length, 8 bytes of iterator, and that many bytes; the first is
// the header. If the lowest bit of the input's first byte is set, checksums are made right first, so that
// inputs get past them.

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace {

using namespace everseen;
using bytes = std::span<const std::byte>;

/// Bits that a fuzzer may allocate.
constexpr std::uint64_t most_bits_bytes = 1 << 20;

std::vector<std::byte> next_chunk(bytes& input, std::int64_t& iterator, bool mends) {
  const auto length = std::min<std::size_t>(load_le<std::uint16_t>(input.data()), input.size() - 10);
  iterator = load_le<std::int64_t>(input.data() + 2);
  const bytes data = input.subspan(10, length);
  input = input.subspan(10 + length);
  std::vector<std::byte> chunk(data.begin(), data.end());
  if (mends && chunk.size() >= 8)
    store_le(chunk.data() + chunk.size() - 8, checksum(std::span(chunk).first(chunk.size() - 8)));
  return chunk;
}

void load(bytes input) {
  if (input.size() < 11) return;
  const bool mends = (std::to_integer<unsigned>(input.front()) & 1) != 0;
  input = input.subspan(1);
  std::int64_t iterator = 0;
  const std::vector<std::byte> header = next_chunk(input, iterator, mends);
  memory_store place;
  chunk_loader loader(place, "f", header);
  if (loader.announced().bit_bytes() > most_bits_bytes) return;
  while (input.size() >= 10) {
    const std::vector<std::byte> chunk = next_chunk(input, iterator, mends);
    loader.load(iterator, chunk);
  }
  if (!loader.is_complete()) return;
  loader.commit();
  const filter loaded("f", place.open("f", access::write));
  if (loaded.get_spec().window) return;
  (void)loaded.may_contain("any key");
  if (dump_chunk(loaded, 0).bytes.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    load(std::as_bytes(std::span(data, size)));
  } catch (const error&) {
    // refused, as most inputs should be
  }
  return 0;
}
