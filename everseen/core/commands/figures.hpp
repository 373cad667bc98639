#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "everseen/core/spec/spec.hpp"

namespace everseen::commands {

/// A field of the reply to EVERSEEN.INFO, and its value.
using figure = std::pair<std::string_view, std::variant<std::string, std::uint64_t, double>>;

/// What is counted of a filter.
struct filter_counts {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;  ///< of all segments
  std::uint64_t segments = 0;
  double error_rate_now = 0;
};

/// The figures of a filter, in the order of the reply.
[[nodiscard]] std::vector<figure> figures_of(std::string_view name, const spec& s,
                                             const filter_counts& counts);

}  // namespace everseen::commands
