#include "everseen/redis/positions.hpp"

#include <array>
#include <charconv>

namespace everseen::redis {

namespace {

constexpr char array32 = '\xdd';       // MessagePack: an array, its length in 32 bits
constexpr char short_string = '\xa0';  // + length, up to 31 bytes

void put_array_length(std::string& out, std::uint32_t length) {
  out += array32;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(length >> shift);
}

}  // namespace

std::string pack_positions(const geometry& shape, std::span<const digest> digests) {
  std::string out;
  out.reserve(5 + digests.size() * shape.probes * 11);
  put_array_length(out, static_cast<std::uint32_t>(digests.size() * shape.probes));
  std::array<std::uint64_t, max_probes> positions{};
  std::array<char, 20> text{};
  for (const digest& d : digests) {
    const std::size_t count = bit_positions(shape, d, positions);
    for (std::size_t i = 0; i < count; ++i) {
      const char* end = std::to_chars(text.data(), text.data() + text.size(), positions[i]).ptr;
      const auto length = static_cast<std::size_t>(end - text.data());
      out += static_cast<char>(static_cast<unsigned char>(short_string) + length);
      out.append(text.data(), length);
    }
  }
  return out;
}

}  // namespace everseen::redis
