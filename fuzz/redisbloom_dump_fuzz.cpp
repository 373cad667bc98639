// A dump that loads must be dumped again byte for byte, and its chain must answer for any key.
//
// An input is a sequence of pairs: 8 bytes of iterator, 2 bytes of length, and that many bytes. It is also
// loaded as chunks that fit, so that inputs get past the order of the iterators.

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/redisbloom/redisbloom_dump.hpp"

namespace {

using namespace everseen;
using namespace everseen::redisbloom;
using bytes = std::span<const std::byte>;

constexpr std::size_t pair_head_bytes = 10;

/// The concatenated chunks.
std::vector<std::byte> dumped(const chain& from) {
  std::vector<std::byte> all;
  dumper out(from, 100);
  while (const auto each = out.next()) all.insert(all.end(), each->data.begin(), each->data.end());
  return all;
}

void check(chain loaded, bytes loaded_from) {
  if (!std::ranges::equal(dumped(loaded), loaded_from)) std::abort();
  const bool seen = loaded.may_contain("any key");
  // A full chain would grow by as much as its numbers say.
  if (loaded.layers.back().keys >= loaded.layers.back().capacity) return;
  if (loaded.add("any key") != (seen ? verdict::seen : verdict::fresh)) std::abort();
  if (!loaded.may_contain("any key")) std::abort();
}

void load_pairs(bytes input) {
  loader in;
  std::vector<std::byte> all;
  while (input.size() >= pair_head_bytes) {
    const auto iterator = load_le<std::int64_t>(input.data());
    const auto length =
        std::min<std::size_t>(load_le<std::uint16_t>(input.data() + 8), input.size() - pair_head_bytes);
    const bytes data = input.subspan(pair_head_bytes, length);
    in.load(iterator, data);
    all.insert(all.end(), data.begin(), data.end());
    input = input.subspan(pair_head_bytes + length);
  }
  check(in.finish(), all);
}

/// The whole input is a header and bits; the header determines their length.
void load_whole(bytes input) {
  if (input.size() < 20) return;
  const std::size_t header = 20 + 53 * (load_le<std::uint32_t>(input.data() + 8) % 4);
  if (input.size() < header) return;
  loader in;
  in.load(1, input.first(header));
  std::int64_t iterator = 1;
  for (const std::byte& each : input.subspan(header)) in.load(++iterator, {&each, 1});
  check(in.finish(), input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  for (const auto& load : {load_pairs, load_whole}) {
    try {
      load(input);
    } catch (const format_error&) {
      // refused, as most inputs should be
    } catch (const parameter_error&) {
      // the 32-bit hash
    }
  }
  return 0;
}
