#include "everseen/store/port/recovered_keys.hpp"

#include <algorithm>
#include <cmath>

#include "everseen/core/layout/set_bits.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen {

std::uint64_t recovered_keys(std::uint64_t counted, const geometry& shape, std::span<const std::byte> bits) {
  const double keys = sizing::keys_from_set_bits(shape, count_set_bits(bits));
  constexpr auto most = static_cast<double>(countless_keys);
  if (!sizing::is_more_than_chance(keys, counted)) return counted;
  return static_cast<std::uint64_t>(std::llround(std::min(keys, most)));
}

}  // namespace everseen
