#include "everseen/redis/keyspace/filter_keys.hpp"

#include <charconv>

namespace everseen::redis {

std::optional<image::filter_id> filter_keys::parse_id(std::string_view digits) {
  image::filter_id id;
  if (digits.size() != 2 * id.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const char* const byte = digits.data() + 2 * i;
    const auto read = std::from_chars(byte, byte + 2, id[i], 16);
    if (read.ec != std::errc{} || read.ptr != byte + 2) return std::nullopt;
  }
  return id;
}

}  // namespace everseen::redis
