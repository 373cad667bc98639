#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/predecessor.hpp"
#include "everseen/store/linked_filter.hpp"

namespace everseen {

// What all stores say about links in the same words: which filters may be linked, and what comes of it.

/// What the rules ask about a filter.
struct link_facts {
  std::string name;
  bool has_window = false;
  std::string asks{};      ///< the filter that this one asks first now; empty: none
  std::string asked_by{};  ///< the one that asks this one first now; empty: none
};

/// A link has one older and one newer filter, and neither has another link: no chains, no trees.
/// @throws parameter_error  these two cannot be linked; says why and what to do
void require_linkable(const link_facts& older, const link_facts& newer);

/// @throws parameter_error  another filter asks this one first, so that it cannot be dropped
void require_unasked(std::string_view name, std::string_view asked_by);

/// @throws parameter_error  it asks another filter first, or is asked by one, so that it keeps its name
void require_unlinked(const link_facts& f);

/// @throws parameter_error  always: the filter asks no other one
[[noreturn]] void refuse_unlinked(std::string_view newer);

/// When a link ends; nothing: never, as where that is beyond what can be said.
[[nodiscard]] std::optional<event_time> end_of_link(event_time now,
                                                    std::optional<std::chrono::milliseconds> life) noexcept;

[[nodiscard]] std::string why_not_opened(std::string_view newer, std::string_view older, const char* why);

/// Opens the older filter of a link and then the newer one, as one.
/// @param open_older, open_newer  give a stored_filter that asks nobody
/// @throws storage_error  the older one cannot be opened; names both
/// @throws format_error   the older one is damaged; names both    @throws  what open_newer throws
template <typename OpenOlder, typename OpenNewer>
std::shared_ptr<stored_filter> open_linked(std::string_view newer, predecessor older, time_source now,
                                           OpenOlder open_older, OpenNewer open_newer) {
  std::shared_ptr<stored_filter> asked;
  try {
    asked = open_older();
  } catch (const format_error& e) {
    throw format_error(why_not_opened(newer, older.name, e.what()));
  } catch (const error& e) {
    throw storage_error(why_not_opened(newer, older.name, e.what()), 0, older.name);
  }
  return std::make_shared<linked_filter>(std::string(newer), open_newer(), std::move(older), std::move(asked),
                                         std::move(now));
}

}  // namespace everseen
