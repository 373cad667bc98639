#include "everseen/compat/bitmap/crc32.hpp"

#include <array>

namespace everseen::compat {

namespace {

constexpr std::array<std::uint32_t, 256> remainders = [] {
  constexpr std::uint32_t reflected_polynomial = 0xEDB88320;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t r = byte;
    for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) * reflected_polynomial);
    table[byte] = r;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t r = ~std::uint32_t{0};
  for (const char byte : bytes) r = (r >> 8) ^ remainders[(r ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~r;
}

}  // namespace everseen::compat
