#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/file_records.hpp"
#include "everseen/store/link/linked_filter.hpp"

namespace everseen {

// Link rules shared by all stores: which filters may be linked, and the errors.

/// A link that has not ended.
struct filter_link {
  std::string newer;
  predecessor older;
  std::string id{};  ///< of the newer filter, where a store notes it
};
using filter_links = std::vector<filter_link>;

/// The filter that asks this one first; empty: none.
[[nodiscard]] std::string asker_of(const filter_links& all, std::string_view older);
/// The filter that this one asks first.
[[nodiscard]] std::optional<predecessor> asked_first(const filter_links& all, std::string_view newer);

/// A filter of a store, by its name.
struct named_spec {
  std::string_view name;
  const spec& properties;
};
/// A link has one older and one newer filter, and neither has another link: no chains, no trees.
/// @throws parameter_error  the two cannot be linked; includes the reason and a remedy
void require_linkable(const filter_links& all, const named_spec& older, const named_spec& newer);

/// @throws parameter_error  another filter asks this one first, so it cannot be dropped
void require_unasked(const filter_links& all, std::string_view name);

/// @throws parameter_error  it has a link, so it cannot be renamed
void require_unlinked(const filter_links& all, std::string_view name);

/// @throws parameter_error  always: the filter has no link
[[noreturn]] void refuse_unlinked(std::string_view newer);

/// When a link ends; nothing: never, also if the end is too far to represent.
[[nodiscard]] std::optional<event_time> end_of_link(event_time current_time,
                                                    std::optional<std::chrono::milliseconds> life) noexcept;

[[nodiscard]] std::string why_not_opened(std::string_view newer, std::string_view older, const char* why);

/// Opens both filters of a link, the older one first, as one filter.
/// @param open_older, open_newer  return a stored_filter without a link
/// @throws storage_error  the older one cannot be opened; names both
/// @throws format_error   the older one is damaged; names both    @throws  as open_newer
template <typename OpenOlder, typename OpenNewer>
std::shared_ptr<stored_filter> open_linked(std::string_view newer, predecessor older, time_source clock,
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
                                         std::move(clock));
}

}  // namespace everseen
