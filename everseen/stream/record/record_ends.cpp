#include "everseen/stream/record/record_ends.hpp"

#include <bit>
#include <cstring>

#include "everseen/core/base/assert.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace everseen {

namespace {

constexpr std::size_t stride = 64;

/// Bit i is 1 if byte i of the 64 at `at` equals `wanted`.
std::uint64_t equal_bytes(const char* at, char wanted) noexcept {
#if defined(__SSE2__)  // part of every x86-64
  const __m128i pattern = _mm_set1_epi8(wanted);
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i);
    const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern)));
    mask |= std::uint64_t{equal} << (16 * i);
  }
  return mask;
#else
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < stride; ++i) mask |= std::uint64_t{at[i] == wanted} << i;
  return mask;
#endif
}

}  // namespace

void find_record_ends(std::string_view text, char separator, std::vector<std::uint32_t>& ends) {
  EVERSEEN_ASSERT(text.size() <= std::size_t{1} << 32);
  std::size_t used = ends.size();
  std::size_t at = 0;
  for (; at + stride <= text.size(); at += stride) {
    std::uint64_t mask = equal_bytes(text.data() + at, separator);
    if (used + stride > ends.size()) ends.resize(2 * used + stride);
    while (mask != 0) {
      ends[used++] = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(std::countr_zero(mask));
      mask &= mask - 1;
    }
  }
  ends.resize(used);
  for (; at < text.size(); ++at)
    if (text[at] == separator) ends.push_back(static_cast<std::uint32_t>(at));
}

}  // namespace everseen
