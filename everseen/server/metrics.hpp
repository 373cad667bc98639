#pragma once

#include <string>

#include "everseen/server/service.hpp"

namespace everseen::server {

/// What the server has done and how its open filters are, in the text format of Prometheus.
///
/// Everything is collected when it is asked for; between two scrapes nothing but counters is kept.
/// Cost: as filter::info() of every open filter, once a second at most.
[[nodiscard]] std::string metrics_text(service& all);

}  // namespace everseen::server
