#include "everseen/foreign/bitmap/plain_filters.hpp"

#include <array>
#include <cstring>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/hash/murmur.hpp"

namespace everseen::foreign::gozero {

void hashes(std::string_view key, std::span<std::uint64_t> out) noexcept {
  const std::uint64_t length = key.size() + 1;
  murmur3 stem;
  for (; key.size() >= murmur3::block_bytes; key.remove_prefix(murmur3::block_bytes)) stem.block(key.data());
  std::array<char, murmur3::block_bytes> end{};
  if (!key.empty()) std::memcpy(end.data(), key.data(), key.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    end[key.size()] = static_cast<char>(i);
    murmur3 whole = stem;
    const bool fills_block = key.size() + 1 == end.size();
    if (fills_block) whole.block(end.data());
    out[i] = whole.finish({end.data(), fills_block ? 0 : key.size() + 1}, length).low;
  }
}

void positions(std::string_view key, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  hashes(key, out);
  for (std::uint64_t& each : out) each %= bits;
}

}  // namespace everseen::foreign::gozero

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
