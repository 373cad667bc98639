#include "everseen/core/layout/set_bits.hpp"

#include <bit>

#include "everseen/core/base/bytes.hpp"

namespace everseen {

namespace {

[[gnu::always_inline]] inline std::uint64_t count_words(std::span<const std::byte> bits,
                                                        std::span<const std::byte> others) noexcept {
  std::uint64_t set = 0;
  std::size_t i = 0;
  for (; i + 8 <= bits.size(); i += 8)
    set +=
        static_cast<std::uint64_t>(std::popcount(load_le64(bits.data() + i) | load_le64(others.data() + i)));
  for (; i < bits.size(); ++i)
    set += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(bits[i] | others[i])));
  return set;
}

// All x86-64 processors since 2008 have the instruction, but programs that run on any must ask; without it,
// each word costs a call, and a gigabyte 0.3 s.
#if defined(__x86_64__)
[[gnu::target("popcnt")]] std::uint64_t count_by_instruction(std::span<const std::byte> bits,
                                                             std::span<const std::byte> others) noexcept {
  return count_words(bits, others);
}
#endif

}  // namespace

std::uint64_t count_set_bits(std::span<const std::byte> bits) noexcept {
  return count_set_bits(bits, bits);
}

std::uint64_t count_set_bits(std::span<const std::byte> bits, std::span<const std::byte> others) noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return count_by_instruction(bits, others);
#endif
  return count_words(bits, others);
}

}  // namespace everseen
