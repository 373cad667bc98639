#pragma once

#include <string>

#include "everseen/serve/service/service.hpp"

namespace everseen::serve {

/// The server's counters and the state of its open filters, in the text format of Prometheus.
///
/// Everything is collected on request; between two scrapes only counters are kept.
/// Cost: as filter::info() of every open filter, once a second at most.
[[nodiscard]] std::string metrics_text(service& all);

}  // namespace everseen::serve
