#include "everseen/redis/wire/random_name.hpp"

#include <cstdint>
#include <string_view>

#include "everseen/core/image.hpp"

namespace everseen::redis {

std::string random_name() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name;
  for (const std::uint8_t byte : image::random_filter_id()) {
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name;
}

}  // namespace everseen::redis
