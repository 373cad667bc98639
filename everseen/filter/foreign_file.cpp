#include "everseen/filter/foreign_file.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "everseen/core/base/names.hpp"

namespace everseen {

void must_have_room(const store& into, std::span<const std::uint64_t> segments) {
  if (segments.empty()) return;
  const std::uint64_t longest = *std::ranges::max_element(segments);
  const store_traits has = into.traits();
  if (const auto most = has.longest_segment_bytes; most && longest > *most)
    throw parameter_error("the filter has a bit array of " + std::to_string(longest) +
                          " bytes, which cannot be divided, and the store allows at most " +
                          std::to_string(*most) + "; use a file: store, or migrate the keys");
  const std::uint64_t bytes = std::accumulate(segments.begin(), segments.end(), std::uint64_t{0});
  const auto room = has.room_bytes;
  if (!room || bytes <= *room) return;
  throw parameter_error("the file is of a filter of " + std::to_string(bytes) +
                        " bytes, and the store has room for " + std::to_string(*room) +
                        "; make room, or use another store");
}

parameter_error no_such_export(const filter& f, std::string_view system, std::string_view layout) {
  return parameter_error(quoted_name(f.name()) + " has the layout " +
                         std::string(to_string(f.get_spec().layout)) + ", which " + std::string(system) +
                         " cannot read; add the keys to a filter made by everseen create --as " +
                         std::string(layout));
}

}  // namespace everseen
