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

std::string remedy(const std::string& name, const std::string& capacity, bool is_rebuildable, adder who) {
  const std::string migrate = "everseen migrate " + name + " NEW --keys FILE --capacity " + capacity;
  if (who == adder::job)
    return "with the keys of all events that took effect in FILE: " + migrate +
           ", and a job of the filter NEW, as one with jobs cannot be rebuilt";
  if (is_rebuildable)
    return "with all of its keys in FILE: everseen rebuild " + name + " --capacity " + capacity + " < FILE";
  return "create a larger filter and add the keys; in the memory of everseen serve, with all of its keys in "
         "FILE: " +
         migrate + "; then: everseen rename --replace NEW " + name;
}

}  // namespace

void name_remedy(batch_failure& failure, const filter& f, adder who) {
  if (failure.why != batch_failure::cause::full || failure.message.find(beginning) != std::string::npos)
    return;
  failure.message += beginning;
  failure.message +=
      remedy(name_argument(f.name()), larger_capacity(f.get_spec()), f.stored().is_rebuildable(), who);
}

}  // namespace everseen
