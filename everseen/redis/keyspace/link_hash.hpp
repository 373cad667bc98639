#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/format/file_records.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/link/linked_filter.hpp"

namespace everseen::redis {

/// The links under a prefix: doc/format.md, "Links".
///
/// One hash beside the index, so that each change of both is one step: a filter has at most one link, a link
/// is removed with its newer filter, and neither filter can be dropped or renamed while the link exists.
/// Links that have expired are ignored; they are removed when another link is written.
///
/// All functions throw backend_error, and format_error if the key is damaged.
class link_hash {
 public:
  explicit link_hash(const std::string& prefix)
      : place_{filter_keys::links(prefix), 0}, index_(filter_keys::index(prefix)) {}

  /// Those that have not expired.
  [[nodiscard]] filter_links all(server_connections& connections) const;
  /// The filter that this one asks first. This one may have been renamed meanwhile.
  [[nodiscard]] std::optional<predecessor> asked_first(server_connections& connections,
                                                       const image::filter_id& id) const;
  /// Writes a link; replaces one between the same two filters.
  /// @param newer, older  the ids of the two
  /// @return false  one of the names leads to another filter, or one of the filters has another link
  [[nodiscard]] bool put(server_connections& connections, const filter_link& link,
                         const image::filter_id& newer, const image::filter_id& older) const;
  /// Removes the link of this filter; keeps that of another filter of the same name.
  void forget(server_connections& connections, std::string_view newer, const image::filter_id& id) const;

  /// Links expire by the clock of the server that has this key.
  [[nodiscard]] const std::string& key() const noexcept { return place_.key; }

 private:
  route place_;
  std::string index_;
};

/// For scripts: `live_links(key)` returns, for each newer name, the older one, without expired links;
/// `is_asked(links, name)` whether a filter is the older one of a link.
inline constexpr std::string_view live_links = R"(
local function live_links(key)
  local time, all, live = redis.call('TIME'), redis.call('HGETALL', key), {}
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for i = 1, #all, 2 do
    local till, older = string.match(all[i + 1], '^%x+ (%S+) (.*)$')
    if till and (till == '-' or tonumber(till) > now) then live[all[i]] = older end
  end
  return live
end
local function is_asked(links, name)
  for _, older in pairs(links) do
    if older == name then return true end
  end
  return false
end
)";

}  // namespace everseen::redis
