#include "everseen/redis/positions.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace everseen::redis {

namespace {

constexpr char short_string = '\xa0';  // MessagePack: + length, up to 31 bytes

}  // namespace

std::string pack_positions(const geometry& shape, std::span<const digest> digests, unsigned probes) {
  const std::size_t longest = std::to_string(shape.bits() - 1).size();
  const std::size_t stride = probes * (1 + longest);
  std::string out(digests.size() * stride, '\0');
  std::array<std::uint64_t, max_probes> positions{};
  char* record = out.data();
  for (const digest& d : digests) {
    const std::size_t count = bit_positions(shape, d, positions);
    char* at = record;
    std::fill(positions.begin() + static_cast<std::ptrdiff_t>(count), positions.begin() + probes,
              positions[count - 1]);
    for (std::size_t i = 0; i < probes; ++i) {
      char* const end = std::to_chars(at + 1, at + 1 + longest, positions[i]).ptr;
      *at = static_cast<char>(static_cast<unsigned char>(short_string) + (end - at - 1));
      at = end;
    }
    record += stride;
  }
  return out;
}

}  // namespace everseen::redis
