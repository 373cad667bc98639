#include <immintrin.h>

#include "everseen/core/kernel/kernel_loop.hpp"
#include "everseen/core/kernel/kernel_table.hpp"

namespace everseen {

namespace {

/// A line is two vectors of 256 bits.
struct avx2_isa {
  struct line {
    __m256i lower, upper;
  };

  static line pattern_8x64(std::uint64_t pattern) noexcept {
    const __m256i source = _mm256_set1_epi64x(static_cast<long long>(pattern));
    return {one_bit_64(_mm256_srlv_epi64(source, _mm256_setr_epi64x(0, 6, 12, 18))),
            one_bit_64(_mm256_srlv_epi64(source, _mm256_setr_epi64x(24, 30, 36, 42)))};
  }
  static line pattern_16x32(std::uint64_t pattern) noexcept {
    return {one_bit_32(pattern), one_bit_32(draw::fold(pattern, draw::upper_key))};
  }
  static __m256i missing(const std::byte* bytes, const line& bits) noexcept {
    return _mm256_or_si256(_mm256_andnot_si256(load(bytes), bits.lower),
                           _mm256_andnot_si256(load(bytes + 32), bits.upper));
  }
  static __m256i either(__m256i a, __m256i b) noexcept { return _mm256_or_si256(a, b); }
  static bool is_empty(__m256i bits) noexcept { return _mm256_testz_si256(bits, bits) != 0; }
  static void set(std::byte* bytes, const line& bits) noexcept {
    store(bytes, _mm256_or_si256(load(bytes), bits.lower));
    store(bytes + 32, _mm256_or_si256(load(bytes + 32), bits.upper));
  }

 private:
  static __m256i one_bit_64(__m256i count) noexcept {
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_and_si256(count, _mm256_set1_epi64x(63)));
  }
  static __m256i one_bit_32(std::uint64_t source) noexcept {
    const __m256i count = _mm256_srlv_epi64(_mm256_set1_epi64x(static_cast<long long>(source)),
                                            _mm256_setr_epi64x(0, 5, 10, 15));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(count, _mm256_set1_epi32(31)));
  }
  static __m256i load(const std::byte* bytes) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  }
  static void store(std::byte* bytes, __m256i value) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes), value);
  }
};

}  // namespace

const kernel kernel_table::avx2 = {"avx2", kernel_loop::check_any<avx2_isa>, kernel_loop::add_any<avx2_isa>};

}  // namespace everseen
