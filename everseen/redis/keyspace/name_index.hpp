#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/file_records.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/link/linked_filter.hpp"

namespace everseen::redis {

/// The names under a prefix, each with the id of its filter: doc/format.md, "Names".
///
/// One hash on the first server, so that each change is atomic: all clients see a filter appear, get another
/// name, replace another one or disappear at one moment. The server remembers each step that is not harmless
/// twice, so a copy of it changes nothing.
///
/// Any sequence of bytes can be a name, so the hash holds nothing else: filters that have lost their names
/// but still have keys are in another hash.
///
/// A third key, the sign, exists while there are names. If it exists without the hash, the server has lost
/// the names. Then no filter is created in place of one whose name was lost.
///
/// All functions throw backend_error, and format_error if the hash is lost or damaged.
class name_index {
 public:
  explicit name_index(const std::string& prefix)
      : place_{filter_keys::index(prefix), 0},
        sign_(filter_keys::sign(prefix)),
        links_(filter_keys::links(prefix)),
        gone_(place_.key + ":gone") {}

  [[nodiscard]] std::optional<image::filter_id> find(server_connections& connections,
                                                     std::string_view name) const;
  using entries = std::map<std::string, image::filter_id>;
  [[nodiscard]] entries all(server_connections& connections) const;

  /// Whether a name leads to this filter.
  [[nodiscard]] bool leads_to(server_connections& connections, const image::filter_id& id) const;
  /// Gives a filter a free name. Also works without scripts, which attached filters do not need.
  /// @return whether the name leads to this filter now; if not, it leads to another one
  [[nodiscard]] bool claim_name(server_connections& connections, std::string_view name,
                                const image::filter_id& id) const;
  /// Filters without a name whose keys exist: the client that removed or replaced them may have crashed
  /// before it removed the keys.
  struct leftovers {
    std::vector<image::filter_id> being_removed{};  ///< their keys are to be removed
    std::vector<std::pair<image::filter_id, image::filter_id>>
        kept{};  ///< kept as long as the second asks the first

    [[nodiscard]] bool empty() const noexcept { return being_removed.empty() && kept.empty(); }
    [[nodiscard]] bool keeps(const image::filter_id& id) const noexcept;
  };
  [[nodiscard]] leftovers left(server_connections& connections) const;
  /// Both in one round trip.
  [[nodiscard]] std::pair<entries, leftovers> all_and_left(server_connections& connections) const;
  void note_removed(server_connections& connections, const image::filter_id& id) const;
  /// Marks a filter that was kept as being removed.
  void release(server_connections& connections, const image::filter_id& kept) const;

  /// Lets the name of `old` lead to `successor`, which asks `old` first; `old` is therefore kept. Links
  /// follow the name.
  /// @return whether a name leads to `successor` now, by this call or an earlier one. If not, and no filter
  ///   asks it, it is being removed
  [[nodiscard]] bool succeed(server_connections& connections, const image::filter_id& old,
                             const image::filter_id& successor) const;
  /// Whether to remove the name even if another filter asks this one first.
  enum class while_asked : bool { no, yes };
  /// Removes the name of this filter, which is being removed from then on. A link of which it is the newer
  /// filter goes with it.
  /// @return false  the name leads to another filter or to none, or another filter asks this one
  [[nodiscard]] bool forget(server_connections& connections, std::string_view name,
                            const image::filter_id& id, while_asked mode) const;

  enum class moved : std::uint8_t {
    done,
    left,    ///< the old name does not lead to this filter
    taken,   ///< the new name leads to another filter than `instead_of`
    linked,  ///< a filter of one of the names asks another one first, or is asked by one
  };
  /// Gives a filter another name.    @param instead_of  what the new name may lead to; nothing: it is free
  [[nodiscard]] moved move(server_connections& connections, std::string_view from, std::string_view new_name,
                           const image::filter_id& id,
                           const std::optional<image::filter_id>& instead_of) const;

 private:
  [[nodiscard]] std::vector<reply> ask(server_connections& connections, const std::string& commands,
                                       std::size_t answers) const;
  [[nodiscard]] entries entries_in(const reply& found) const;
  [[nodiscard]] leftovers leftovers_in(const reply& found) const;
  [[nodiscard]] format_error is_lost() const;
  [[nodiscard]] bool take_by_commands(server_connections& connections, std::string_view name,
                                      const image::filter_id& id) const;

  route place_;
  std::string sign_;
  std::string links_;
  std::string gone_;  // filters without a name whose keys exist
};

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
