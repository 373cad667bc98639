// Chunks of BF.LOADCHUNK in the Redis module, in both forms: what loads is dumped as it was loaded, and keeps
// keys; what is refused changes nothing.
//
// An input is a sequence of pairs: 2 bytes of length, 8 bytes of iterator, and that many bytes; the first is
// the header. If the lowest bit of the input's first byte is set, checksums are made right first.
//
// Decodes: module/value/filter_chunks.cpp

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"

#include "fuzz/module_values.hpp"
#include "module/value/filter_chunks.hpp"

namespace {

using namespace everseen;
using namespace everseen::redis_module;
using bytes = std::span<const std::byte>;

struct pair {
  std::int64_t iterator = 0;
  std::vector<std::byte> data{};
};

pair next_pair(bytes& input, bool mends) {
  const auto length = std::min<std::size_t>(load_le<std::uint16_t>(input.data()), input.size() - 10);
  pair p{load_le<std::int64_t>(input.data() + 2),
         {input.begin() + 10, input.begin() + 10 + static_cast<std::ptrdiff_t>(length)}};
  input = input.subspan(10 + length);
  if (mends && length >= 8)
    store_le(p.data.data() + length - 8, checksum(std::span(p.data).first(length - 8)));
  return p;
}

std::vector<std::byte> bits_of(const filter_value& filter) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < filter.announced().segments.size(); ++i)
    all.insert(all.end(), filter.bits(i).begin(), filter.bits(i).end());
  return all;
}

void load(bytes input) {
  if (input.size() < 11) return;
  const bool mends = (std::to_integer<unsigned>(input.front()) & 1) != 0;
  input = input.subspan(1);
  const announced_filter announced = announced_by(next_pair(input, mends).data);
  if (announced.bit_bytes() > fuzzing::most_bytes) return;
  filter_value filter(announced);
  while (input.size() >= 10) {
    const pair each = next_pair(input, mends);
    const std::vector<std::byte> before = bits_of(filter);
    try {
      (void)load_chunk(filter, each.iterator, each.data);
    } catch (const error&) {
      if (bits_of(filter) != before) std::abort();
    }
  }
  filter_value copy(announced_by(chunk_after(filter, 0, 0).bytes));
  for (std::int64_t at = 1;;) {
    const value_chunk each = chunk_after(filter, at, 1'000);
    if (each.iterator == 0) break;
    (void)load_chunk(copy, each.iterator, each.bytes);
    at = each.iterator;
  }
  if (bits_of(copy) != bits_of(filter)) std::abort();
  fuzzing::use(copy);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  fuzzing::begin();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    load(std::as_bytes(std::span(data, size)));
  } catch (const error&) {
    // refused, as most inputs should be
  }
  return 0;
}
