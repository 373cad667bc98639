#pragma once

#include <cstdint>

#include "module/api.hpp"

namespace everseen::redis_module {

/// What `INFO everseen` shows: sums since the module was loaded.
struct counters {
  std::uint64_t batches = 0;  ///< calls that judged keys
  std::uint64_t keys_added = 0;
  std::uint64_t keys_checked = 0;
  std::uint64_t fresh = 0;
  std::uint64_t seen = 0;
  std::uint64_t repeated_batches = 0;  ///< answered from a token
  std::uint64_t refusals = 0;          ///< calls that judged nothing
  std::uint64_t growths = 0;           ///< segments made

  [[nodiscard]] static counters& all() noexcept {
    static counters of_this_server;
    return of_this_server;
  }
};

/// Writes the section of INFO.
void show_counters(module_api::info_context* info, int for_crash);

}  // namespace everseen::redis_module
