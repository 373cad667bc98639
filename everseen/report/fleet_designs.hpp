#pragma once

#include <cstdint>
#include <vector>

#include "everseen/report/fleet.hpp"

namespace everseen {

/// Processes that add keys, where the request leaves it open: usual_clients, or as many as the events need.
[[nodiscard]] std::uint64_t clients_of(const fleet_request& request, const fleet_constants& constants);

/// Every design with what it takes, and why it cannot be; whether it may be picked is not looked at.
/// @throws parameter_error  numbers that fit no filter
[[nodiscard]] std::vector<fleet_design> designs_of(const fleet_request& request,
                                                   const fleet_constants& constants);

}  // namespace everseen
