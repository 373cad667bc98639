#include "everseen/foreign/bitmap/bkdr.hpp"

#include <array>

#include "everseen/core/base/assert.hpp"

namespace everseen::foreign::bkdr {

namespace {

constexpr std::array<std::uint32_t, max_probes> seeds = [] {
  std::array<std::uint32_t, max_probes> all{};
  for (unsigned i = 0; i < max_probes; ++i) all[i] = static_cast<std::uint32_t>(seed(i));
  return all;
}();

}  // namespace

void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept {
  EVERSEEN_ASSERT(out.size() <= max_probes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t h = 0;
    for (const char byte : key) h = h * seeds[i] + static_cast<unsigned char>(byte);
    out[i] = h & mask;
  }
}

void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  hashes(key, out);
  for (std::uint64_t& each : out) each %= bits;
}

}  // namespace everseen::foreign::bkdr
