#include "everseen/store/link/linking.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen {

namespace {

std::string end_it(std::string_view newer) {
  return "; end that with: everseen link --off " + name_argument(newer);
}

}  // namespace

std::string asker_of(const filter_links& all, std::string_view older) {
  const auto found = std::ranges::find(all, older, [](const filter_link& l) { return l.older.name; });
  return found == all.end() ? std::string() : found->newer;
}

std::optional<predecessor> asked_first(const filter_links& all, std::string_view newer) {
  const auto found = std::ranges::find(all, newer, &filter_link::newer);
  if (found == all.end()) return std::nullopt;
  return found->older;
}

void require_linkable(const filter_links& all, const named_spec& older, const named_spec& newer) {
  const std::string old = quoted_name(older.name), replacement = quoted_name(newer.name);
  if (older.name == newer.name)
    throw parameter_error("a filter cannot be linked to itself; name the old one and then the new one");
  if (const auto asks = asked_first(all, older.name))
    throw parameter_error(old + " itself asks " + quoted_name(asks->name) +
                          " first; only one older filter is asked");
  if (const auto asks = asked_first(all, newer.name); asks && asks->name != older.name)
    throw parameter_error(replacement + " asks " + quoted_name(asks->name) + " first" + end_it(newer.name));
  if (const std::string asker = asker_of(all, newer.name); !asker.empty())
    throw parameter_error(replacement + " is asked by " + quoted_name(asker) +
                          "; only one older filter is asked");
  if (const std::string asker = asker_of(all, older.name); !asker.empty() && asker != newer.name)
    throw parameter_error(old + " is asked by " + quoted_name(asker) + " already" + end_it(asker));
  if (older.properties.window && !newer.properties.window)
    throw parameter_error(old + " has a window and " + replacement +
                          " has none, so the keys would have no times");
}

void require_unasked(const filter_links& all, std::string_view name) {
  if (const std::string asker = asker_of(all, name); !asker.empty())
    throw parameter_error(quoted_name(asker) + " asks " + quoted_name(name) + " first" + end_it(asker));
}

void require_unlinked(const filter_links& all, std::string_view name) {
  require_unasked(all, name);
  if (const auto asks = asked_first(all, name))
    throw parameter_error(quoted_name(name) + " asks " + quoted_name(asks->name) + " first" + end_it(name));
}

void refuse_unlinked(std::string_view newer) {
  throw parameter_error(quoted_name(newer) + " is linked to no filter");
}

std::string why_not_opened(std::string_view newer, std::string_view older, const char* why) {
  return quoted_name(newer) + " asks " + quoted_name(older) + " first, which cannot be opened: " + why +
         ". Restore it, or continue without it: everseen link --off " + name_argument(newer);
}

std::optional<event_time> end_of_link(event_time current_time,
                                      std::optional<std::chrono::milliseconds> life) noexcept {
  if (!life || event_time::max() - current_time <= *life) return std::nullopt;
  return current_time + *life;
}

}  // namespace everseen
