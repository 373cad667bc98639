#include "everseen/core/commands/figures.hpp"

namespace everseen::commands {

std::vector<figure> figures_of(std::string_view name, const spec& s, const filter_counts& counts) {
  const auto number = [](auto n) { return static_cast<std::uint64_t>(n); };
  return {
      {"name", std::string(name)},
      {"keys", counts.keys},
      {"capacity", s.capacity},
      {"error_rate", s.error_rate},
      {"error_rate_now", counts.error_rate_now},
      {"bytes", counts.bytes},
      {"segments", counts.segments},
      {"layout", std::string(to_string(s.layout))},
      {"hash", std::string(to_string(s.hash))},
      {"growth", std::string(to_string(s.growth))},
      {"partitions", number(s.partitions)},
      {"window_ms", number(s.window ? s.window->width.count() : 0)},
      {"slices", number(s.window ? s.window->slices : 0)},
  };
}

}  // namespace everseen::commands
