// Chunks of BF.LOADCHUNK, in both forms: a filter that loads answers for any key, and the chunks that it is
// dumped as make another one that is dumped the same, whole and by partitions.
//
// An input is a sequence of pairs: 2 bytes of length, 8 bytes of iterator, and that many bytes; the first is
// the header. If the lowest bit of the input's first byte is set, checksums are made right first, so that
// inputs get past them.
//
// Decodes: everseen/core/format/chunk_image.cpp, everseen/core/redisbloom/redisbloom.cpp

#include <algorithm>
#include <cstdint>
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

/// The chunks from an iterator on.
template <typename Dump>
std::vector<filter_chunk> all_chunks(std::int64_t first, const Dump& dump) {
  std::vector<filter_chunk> all;
  for (filter_chunk next = dump(first); !next.bytes.empty(); next = dump(all.back().iterator))
    all.push_back(std::move(next));
  return all;
}

std::vector<filter_chunk> chunks_of(const filter& f) {
  return all_chunks(0, [&](std::int64_t iterator) { return dump_chunk(f, iterator); });
}

std::vector<filter_chunk> chunks_of_partitions(const filter& f) {
  std::vector<filter_chunk> all;
  for (std::uint32_t p = 0; p < f.get_spec().partitions; ++p) {
    constexpr std::uint64_t most_bytes = 1 << 10;
    const auto some =
        all_chunks(1, [&](std::int64_t iterator) { return dump_partition(f, p, iterator, most_bytes); });
    std::size_t bits = 0;
    for (const filter_chunk& each : some) bits += image::decode_chunk(each.bytes).bits.size();
    if (bits != state_of(announce_partition(f, p)).bytes()) std::abort();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

bool are_equal(const std::vector<filter_chunk>& some, const std::vector<filter_chunk>& others) {
  return std::ranges::equal(some, others, [](const filter_chunk& one, const filter_chunk& other) {
    return one.iterator == other.iterator && one.bytes == other.bytes;
  });
}

void must_load_again(const filter& f) {
  const std::vector<filter_chunk> all = chunks_of(f);
  memory_store place;
  chunk_loader loader(place, "f", all.front().bytes);
  for (std::size_t i = all.size() - 1; i > 0; --i) loader.load(all[i].iterator, all[i].bytes);
  loader.commit();
  const filter again("f", place.open("f", access::read));
  if (!are_equal(chunks_of(again), all)) std::abort();
  if (!are_equal(chunks_of_partitions(again), chunks_of_partitions(f))) std::abort();
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
  loader.commit();
  const filter loaded("f", place.open("f", access::write));
  if (!loaded.get_spec().window) (void)loaded.may_contain("any key");
  must_load_again(loaded);
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
