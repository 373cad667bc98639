#pragma once

#include <cstdint>
#include <span>

#include "everseen/core/base/verdict.hpp"

#include "module/server/api.hpp"

namespace everseen::redis_module {

/// The values in `INFO everseen`: totals since the module was loaded.
struct counters {
  std::uint64_t batches = 0;       ///< per partition, with at least one judged key
  std::uint64_t keys_added = 0;    ///< keys judged by commands that add
  std::uint64_t keys_checked = 0;  ///< keys judged by commands that look up
  std::uint64_t fresh = 0;
  std::uint64_t seen = 0;
  std::uint64_t repeated_batches = 0;  ///< answered from a token
  std::uint64_t refusals = 0;          ///< calls that were answered with an error and changed nothing
  std::uint64_t growths = 0;           ///< segments created

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
