#pragma once

#include <cstdint>
#include <span>

#include "everseen/core/verdict.hpp"

#include "module/api.hpp"

namespace everseen::redis_module {

/// What `INFO everseen` shows: sums since the module was loaded.
struct counters {
  std::uint64_t batches = 0;       ///< of one partition each, of which keys were judged
  std::uint64_t keys_added = 0;    ///< that got a verdict, by commands that add
  std::uint64_t keys_checked = 0;  ///< the same, by those that look up
  std::uint64_t fresh = 0;
  std::uint64_t seen = 0;
  std::uint64_t repeated_batches = 0;  ///< answered from a token
  std::uint64_t refusals = 0;          ///< batches of which some key was not judged, but for growth
  std::uint64_t growths = 0;           ///< segments made

  void note_added(std::span<const verdict> verdicts) noexcept;
  void note_checked(std::span<const verdict> verdicts) noexcept;

  [[nodiscard]] static counters& all() noexcept {
    static counters of_this_server;
    return of_this_server;
  }

 private:
  std::uint64_t note(std::span<const verdict> verdicts) noexcept;
};

/// Writes the section of INFO.
void show_counters(module_api::info_context* info, int for_crash);

}  // namespace everseen::redis_module
