#include "everseen/core/layout/set_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen {

namespace {

[[gnu::always_inline]] inline std::uint64_t count_words(
    std::span<const std::span<const std::byte>> all) noexcept {
  std::uint64_t set = 0;
  std::size_t i = 0;
  const std::size_t bytes = all.empty() ? 0 : all.front().size();
  for (; i + 8 <= bytes; i += 8) {
    std::uint64_t word = 0;
    for (const std::span<const std::byte> bits : all) word |= load_le64(bits.data() + i);
    set += static_cast<std::uint64_t>(std::popcount(word));
  }
  for (; i < bytes; ++i) {
    std::byte rest{};
    for (const std::span<const std::byte> bits : all) rest |= bits[i];
    set += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(rest)));
  }
  return set;
}

// All x86-64 processors since 2008 have the instruction, but programs that run on any must ask; without it,
// each word costs a call, and a gigabyte 0.3 s.
#if defined(__x86_64__)
[[gnu::target("popcnt")]] std::uint64_t count_by_instruction(
    std::span<const std::span<const std::byte>> all) noexcept {
  return count_words(all);
}
#endif

}  // namespace

std::uint64_t count_set_bits(std::span<const std::byte> bits) noexcept {
  return count_set_bits(std::span(&bits, 1));
}

std::uint64_t count_set_bits(std::span<const std::span<const std::byte>> all) noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return count_by_instruction(all);
#endif
  return count_words(all);
}

std::uint64_t recovered_keys(std::uint64_t counted, const geometry& shape, std::span<const std::byte> bits) {
  const double keys = sizing::keys_from_set_bits(shape, count_set_bits(bits));
  constexpr auto most = static_cast<double>(countless_keys);
  if (!sizing::is_more_than_chance(keys, counted)) return counted;
  return static_cast<std::uint64_t>(std::llround(std::min(keys, most)));
}

}  // namespace everseen
