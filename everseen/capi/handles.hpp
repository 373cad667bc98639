#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/capi/everseen.h"
#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"

// What stands behind the pointers of the C interface, and what its functions share.

struct everseen_filter {
  std::shared_ptr<everseen::store> place;
  everseen::filter filter;
  bool has_window;
  everseen::access mode;
};

struct everseen_job {
  everseen::filter filter;  // outlives the ledger
  std::unique_ptr<everseen::ledger> ledger;
  bool has_window;
  std::mutex lock{};  // guards `settled`
  std::map<std::string, std::uint64_t, std::less<>> settled{};
};

namespace everseen::capi {

/// Keys of one call of a filter. Large enough that round trips to a server are rare.
inline constexpr std::size_t keys_at_once = 65'536;

/// Keeps the message of the exception being handled for everseen_last_error().
[[nodiscard]] everseen_status status_of_current_exception() noexcept;

/// Runs `work` so that no exception leaves the library.
template <typename Work>
everseen_status guarded(Work work) noexcept {
  try {
    work();
    return EVERSEEN_OK;
  } catch (...) {
    return status_of_current_exception();
  }
}

/// @throws parameter_error
void must_not_be_null(const void* pointer, const char* subject);

/// @throws parameter_error  null, and a length
[[nodiscard]] std::string_view key_in(const void* bytes, std::size_t length);

/// Times in ms since 1970.
struct given_times {
  const std::int64_t* ms;
  std::size_t count;
};

/// Nothing without a window; else one time for all keys, which is now if none is given, or one for each.
/// @throws parameter_error  another number of them
[[nodiscard]] std::vector<event_time> times_of(bool has_window, given_times given, std::size_t keys);

}  // namespace everseen::capi
