#include "everseen/store/link/linking.hpp"

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen {

namespace {

std::string end_it(std::string_view newer) {
  return "; end that with: everseen link --off " + name_argument(newer);
}

}  // namespace

void require_linkable(const link_facts& older, const link_facts& newer) {
  const std::string old = quoted_name(older.name);
  const std::string now = quoted_name(newer.name);
  if (older.name == newer.name)
    throw parameter_error("a filter cannot be linked to itself; name the old one and then the new one");
  if (!older.asks.empty())
    throw parameter_error(old + " itself asks " + quoted_name(older.asks) +
                          " first; only one older filter is asked");
  if (!newer.asks.empty() && newer.asks != older.name)
    throw parameter_error(now + " asks " + quoted_name(newer.asks) + " first" + end_it(newer.name));
  if (!newer.asked_by.empty())
    throw parameter_error(now + " is asked by " + quoted_name(newer.asked_by) +
                          "; only one older filter is asked");
  if (!older.asked_by.empty() && older.asked_by != newer.name)
    throw parameter_error(old + " is asked by " + quoted_name(older.asked_by) + " already" +
                          end_it(older.asked_by));
  if (older.has_window && !newer.has_window)
    throw parameter_error(old + " has a window and " + now +
                          " has none, so that keys would come without their time");
}

void require_unasked(std::string_view name, std::string_view asked_by) {
  if (!asked_by.empty())
    throw parameter_error(quoted_name(asked_by) + " asks " + quoted_name(name) + " first" + end_it(asked_by));
}

void require_unlinked(const link_facts& f) {
  require_unasked(f.name, f.asked_by);
  if (!f.asks.empty())
    throw parameter_error(quoted_name(f.name) + " asks " + quoted_name(f.asks) + " first" + end_it(f.name));
}

void refuse_unlinked(std::string_view newer) {
  throw parameter_error(quoted_name(newer) + " is linked to no filter");
}

std::string why_not_opened(std::string_view newer, std::string_view older, const char* why) {
  return quoted_name(newer) + " asks " + quoted_name(older) + " first, which cannot be opened: " + why +
         ". Restore it, or go on without it: everseen link --off " + name_argument(newer);
}

std::optional<event_time> end_of_link(event_time now,
                                      std::optional<std::chrono::milliseconds> life) noexcept {
  if (!life || event_time::max() - now <= *life) return std::nullopt;
  return now + *life;
}

}  // namespace everseen
