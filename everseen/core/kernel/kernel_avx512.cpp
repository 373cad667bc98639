#include <immintrin.h>

#include "everseen/core/kernel/kernel_loop.hpp"
#include "everseen/core/kernel/kernel_table.hpp"

namespace everseen {

namespace {

/// A line is one vector of 512 bits. Rotations take their count modulo the word width, so the low bits of
/// each shifted lane select the bit without a mask.
struct avx512_isa {
  using line = __m512i;

  static line pattern_8x64(std::uint64_t pattern) noexcept {
    const __m512i count = _mm512_srlv_epi64(_mm512_set1_epi64(static_cast<long long>(pattern)),
                                            _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42));
    return _mm512_rolv_epi64(_mm512_set1_epi64(1), count);
  }
  static line pattern_16x32(std::uint64_t pattern) noexcept {
    const auto upper = static_cast<long long>(draw::fold(pattern, draw::upper_key));
    const __m512i source =
        _mm512_mask_set1_epi64(_mm512_set1_epi64(static_cast<long long>(pattern)), 0xF0, upper);
    const __m512i count = _mm512_srlv_epi64(source, _mm512_setr_epi64(0, 5, 10, 15, 0, 5, 10, 15));
    return _mm512_rolv_epi32(_mm512_set1_epi32(1), count);
  }
  static __m512i missing(const std::byte* bytes, line bits) noexcept {
    return _mm512_andnot_si512(_mm512_loadu_si512(bytes), bits);
  }
  static __m512i either(__m512i a, __m512i b) noexcept { return _mm512_or_si512(a, b); }
  static bool is_empty(__m512i bits) noexcept { return _mm512_test_epi64_mask(bits, bits) == 0; }
  static void set(std::byte* bytes, line bits) noexcept {
    _mm512_storeu_si512(bytes, _mm512_or_si512(_mm512_loadu_si512(bytes), bits));
  }
};

}  // namespace

const kernel kernel_table::avx512 = {"avx512", kernel_loop::check_any<avx512_isa>,
                                     kernel_loop::add_any<avx512_isa>};

}  // namespace everseen
