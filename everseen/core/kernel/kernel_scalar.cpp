#include <array>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/kernel/kernel_loop.hpp"
#include "everseen/core/kernel/kernel_table.hpp"

namespace everseen {

namespace {

/// Plain C++: the reference for the other kernels, and the kernel of other CPUs.
struct scalar_isa {
  using line = std::array<std::uint64_t, 8>;

  static line pattern_8x64(std::uint64_t pattern) noexcept {
    line bits;
    for (unsigned w = 0; w < 8; ++w) bits[w] = std::uint64_t{1} << draw::bit_8x64(pattern, w);
    return bits;
  }
  static line pattern_16x32(std::uint64_t pattern) noexcept {
    line bits;
    for (unsigned w = 0; w < 8; ++w)
      bits[w] = std::uint64_t{1} << draw::bit_16x32(pattern, 2 * w) |
                std::uint64_t{1} << (32 + draw::bit_16x32(pattern, 2 * w + 1));
    return bits;
  }
  static std::uint64_t missing(const std::byte* bytes, const line& bits) noexcept {
    std::uint64_t missing = 0;
    for (unsigned w = 0; w < 8; ++w) missing |= ~load_le64(bytes + 8 * w) & bits[w];
    return missing;
  }
  static std::uint64_t either(std::uint64_t a, std::uint64_t b) noexcept { return a | b; }
  static bool is_empty(std::uint64_t bits) noexcept { return bits == 0; }
  static void set(std::byte* bytes, const line& bits) noexcept {
    for (unsigned w = 0; w < 8; ++w) store_le(bytes + 8 * w, load_le64(bytes + 8 * w) | bits[w]);
  }
};

}  // namespace

const kernel kernel_table::scalar = {"scalar", kernel_loop::check_any<scalar_isa>,
                                     kernel_loop::add_any<scalar_isa>};

}  // namespace everseen
