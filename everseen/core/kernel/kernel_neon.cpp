#include <arm_neon.h>

#include "everseen/core/kernel/kernel_loop.hpp"
#include "everseen/core/kernel/kernel_table.hpp"

namespace everseen {

namespace {

/// A line is four vectors of 128 bits. NEON shifts to the right by negative counts.
struct neon_isa {
  using line = uint64x2x4_t;

  static line pattern_8x64(std::uint64_t pattern) noexcept {
    const uint64x2_t source = vdupq_n_u64(pattern);
    return {{one_bit_64(source, 0), one_bit_64(source, 12), one_bit_64(source, 24), one_bit_64(source, 36)}};
  }
  static line pattern_16x32(std::uint64_t pattern) noexcept {
    const uint64x2_t lower = vdupq_n_u64(pattern);
    const uint64x2_t upper = vdupq_n_u64(draw::fold(pattern, draw::upper_key));
    return {{one_bit_32(lower, 0), one_bit_32(lower, 10), one_bit_32(upper, 0), one_bit_32(upper, 10)}};
  }
  static uint64x2_t missing(const std::byte* bytes, const line& bits) noexcept {
    return vorrq_u64(vorrq_u64(missing_of(bytes, bits, 0), missing_of(bytes, bits, 1)),
                     vorrq_u64(missing_of(bytes, bits, 2), missing_of(bytes, bits, 3)));
  }
  static uint64x2_t either(uint64x2_t a, uint64x2_t b) noexcept { return vorrq_u64(a, b); }
  static bool is_empty(uint64x2_t bits) noexcept { return vmaxvq_u32(vreinterpretq_u32_u64(bits)) == 0; }
  static void set(std::byte* bytes, const line& bits) noexcept {
    for (unsigned v = 0; v < 4; ++v) store(bytes + 16 * v, vorrq_u64(load(bytes + 16 * v), bits.val[v]));
  }

 private:
  /// The bits of two words, whose counts begin at bit `skipped` of the source, one after the other.
  static uint64x2_t one_bit_64(uint64x2_t source, int skipped) noexcept {
    const int64x2_t shifts = {-skipped, -skipped - 6};
    const uint64x2_t count = vandq_u64(vshlq_u64(source, shifts), vdupq_n_u64(63));
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(count));
  }
  /// The bits of four words: of two in each half of the source.
  static uint64x2_t one_bit_32(uint64x2_t source, int skipped) noexcept {
    const int64x2_t shifts = {-skipped, -skipped - 5};
    const uint32x4_t count = vandq_u32(vreinterpretq_u32_u64(vshlq_u64(source, shifts)), vdupq_n_u32(31));
    return vreinterpretq_u64_u32(vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(count)));
  }
  static uint64x2_t missing_of(const std::byte* bytes, const line& bits, unsigned v) noexcept {
    return vbicq_u64(bits.val[v], load(bytes + 16 * v));
  }
  static uint64x2_t load(const std::byte* bytes) noexcept {
    return vreinterpretq_u64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(bytes)));
  }
  static void store(std::byte* bytes, uint64x2_t value) noexcept {
    vst1q_u8(reinterpret_cast<std::uint8_t*>(bytes), vreinterpretq_u8_u64(value));
  }
};

}  // namespace

const kernel kernel_table::neon = {"neon", kernel_loop::check_any<neon_isa>, kernel_loop::add_any<neon_isa>};

}  // namespace everseen
