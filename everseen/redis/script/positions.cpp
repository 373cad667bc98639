#include "everseen/redis/script/positions.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace everseen::redis {

std::string pack_positions(std::span<const std::uint64_t> positions, unsigned probes, std::uint64_t bits) {
  constexpr unsigned char short_string = 0xa0;  // MessagePack: + length, up to 31 bytes
  const std::size_t longest = std::to_string(bits - 1).size();
  const std::size_t stride = probes * (1 + longest);
  std::string records(positions.size() / probes * stride, '\0');
  for (std::size_t key = 0; key < positions.size() / probes; ++key) {
    char* at = records.data() + key * stride;
    for (const std::uint64_t position : positions.subspan(key * probes, probes)) {
      char* const end = std::to_chars(at + 1, at + 1 + longest, position).ptr;
      *at = static_cast<char>(short_string + (end - at - 1));
      at = end;
    }
  }
  return records;
}

std::string pack_positions(const geometry& shape, std::span<const digest> digests, unsigned probes) {
  std::vector<std::uint64_t> positions(digests.size() * probes);
  for (std::size_t key = 0; key < digests.size(); ++key) {
    const auto own = std::span(positions).subspan(key * probes, probes);
    const std::size_t used = bit_positions(shape, digests[key], own);
    std::ranges::fill(own.subspan(used), own[used - 1]);
  }
  return pack_positions(positions, probes, shape.bits());
}

}  // namespace everseen::redis
