#include "everseen/store/recovered_keys.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "everseen/core/bytes.hpp"
#include "everseen/core/sizing.hpp"

namespace everseen {

std::uint64_t recovered_keys(std::uint64_t counted, const geometry& shape, std::span<const std::byte> bits) {
  std::uint64_t set = 0;
  for (std::size_t i = 0; i < bits.size(); i += 8)
    set += static_cast<std::uint64_t>(std::popcount(load_le64(bits.data() + i)));
  const double keys = sizing::keys_from_set_bits(shape, set);
  constexpr double most = static_cast<double>(std::uint64_t{1} << 47);  // all bits set: as good as infinite
  const auto expected = static_cast<double>(counted);
  if (keys <= expected + 3 * std::sqrt(expected)) return counted;
  return static_cast<std::uint64_t>(std::llround(std::min(keys, most)));
}

}  // namespace everseen
