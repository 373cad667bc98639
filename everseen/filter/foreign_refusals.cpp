#include "everseen/filter/foreign_refusals.hpp"

#include <string>

namespace everseen {

void must_have_room(const store& into, std::uint64_t bytes) {
  const auto room = into.room_bytes();
  if (!room || bytes <= *room) return;
  throw parameter_error("the file is of a filter of " + std::to_string(bytes) +
                        " bytes, and the store has room for " + std::to_string(*room) +
                        "; make room, or take another store");
}

void must_be_settable(unsigned probes) {
  if (probes > max_probes)
    throw parameter_error("the filter sets " + std::to_string(probes) + " bits a key, and everseen sets " +
                          std::to_string(max_probes) + " at most");
}

parameter_error no_such_export(const filter& f, std::string_view system, std::string_view layout) {
  return parameter_error("'" + f.name() + "' has the layout " + std::string(to_string(f.get_spec().layout)) +
                         ", which " + std::string(system) +
                         " cannot read; add the keys to a filter made by everseen create --as " +
                         std::string(layout));
}

}  // namespace everseen
