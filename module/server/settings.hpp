#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "everseen/core/redisbloom/bloom_request.hpp"

#include "module/server/api.hpp"

namespace everseen::redis_module {

inline constexpr std::uint64_t no_maximum = std::numeric_limits<std::uint64_t>::max();

/// The words after the module's path in `loadmodule`, in any case. They have the names of RedisBloom's, where
/// it has them.
struct module_settings {
  redisbloom::bloom_request create =
      redisbloom::default_bloom_request();  ///< ERROR_RATE, INITIAL_SIZE, EXPANSION
  bool redisbloom_layout = false;           ///< LAYOUT redisbloom: new filters are RedisBloom's, bit for bit
  std::uint64_t most_bytes = no_maximum;    ///< MAX_SIZE: of the bits of one filter; 0 there: no maximum
};

[[nodiscard]] const module_settings& settings() noexcept;

/// @return why a word was refused; empty: none was
[[nodiscard]] std::string read_settings(std::span<module_api::string*> words);

}  // namespace everseen::redis_module
