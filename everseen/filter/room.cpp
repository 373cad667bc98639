#include "everseen/filter/room.hpp"

#include <algorithm>
#include <string>

#include "everseen/core/base/names.hpp"

namespace everseen {

namespace {

constexpr std::string_view beginning = "; to make room, ";

/// Twice what it was created for; of a filter that has grown, only its owner knows how many keys it has to
/// hold.
std::string larger_capacity(const spec& s) {
  return s.growth == growth_kind::refuse ? std::to_string(2 * std::min(s.capacity, max_capacity / 2))
                                         : "COUNT";
}

}  // namespace

void name_remedy(batch_failure& failure, std::string_view name, const spec& s, adder who) {
  if (failure.why != batch_failure::cause::full || failure.message.find(beginning) != std::string::npos)
    return;
  const std::string argument = name_argument(name);
  failure.message += beginning;
  failure.message += who == adder::job
                         ? "with the keys of all events that took effect in FILE: everseen migrate " +
                               argument + " NEW --keys FILE --capacity " + larger_capacity(s) +
                               ", and a job of the filter NEW, as one with jobs cannot be rebuilt"
                         : "with all of its keys in FILE: everseen rebuild " + argument + " --capacity " +
                               larger_capacity(s) + " < FILE";
}

}  // namespace everseen
