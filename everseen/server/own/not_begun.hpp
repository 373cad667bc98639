#pragma once

#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/server/service/batch_sessions.hpp"

namespace everseen::server {

/// The refusal of a request of which nothing was run, as the store is unavailable. A client of everseen sends
/// the request again, for as long as it waits through outages.
[[nodiscard]] inline batch_sessions::not_begun not_begun_as(std::string_view why) {
  return {{"BUSY nothing was run, as the store is unavailable: " + std::string(why)}};
}

/// Runs what changes nothing.    @throws batch_sessions::not_begun  the store is unavailable
template <typename Work>
auto run_reading(Work work) {
  try {
    return work();
  } catch (const backend_error& why) {
    throw not_begun_as(why.what());
  }
}

}  // namespace everseen::server
