#pragma once

#include <cstdint>
#include <vector>

#include "everseen/report/fleet.hpp"

namespace everseen {

/// The number of clients that can read all events.
[[nodiscard]] std::uint64_t clients_needed(const fleet_request& request, const fleet_constants& constants);

/// Processes that add keys. If the request leaves it open: usual_clients, or more if the events need more.
[[nodiscard]] std::uint64_t clients_of(const fleet_request& request, const fleet_constants& constants);

/// Every design with its load and, if it is impossible, the reason. Does not decide which may be picked.
/// @throws parameter_error  the numbers fit no filter
[[nodiscard]] std::vector<fleet_design> designs_of(const fleet_request& request,
                                                   const fleet_constants& constants);

}  // namespace everseen
