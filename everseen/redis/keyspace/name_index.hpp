#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// The names under a prefix, each with the id of its filter: doc/format.md, "Names".
///
/// One hash on the first server, so that each change is one step, whatever it does: a filter appears, gets
/// another name, takes another one's place or disappears at one moment for everybody. A step whose answer was
/// lost is recognised when it is made again.
///
/// A sign beside it says that there are filters: where it stands alone, the server has lost the names, and no
/// filter takes the place of one that is there without its name.
///
/// All functions throw backend_error, and format_error where the hash is lost or something else.
class name_index {
 public:
  explicit name_index(const std::string& prefix)
      : at_{filter_keys::index(prefix), 0},
        sign_(filter_keys::sign(prefix)),
        links_(filter_keys::links(prefix)) {}

  [[nodiscard]] std::optional<image::filter_id> find(session& with, std::string_view name) const;
  using entries = std::map<std::string, image::filter_id>;
  [[nodiscard]] entries all(session& with) const;

  /// Whether it is the filter of some name.
  [[nodiscard]] bool leads_to(session& with, const image::filter_id& id) const;
  /// Works where scripts are forbidden, too: attached filters need none.
  /// @return whether the name leads to this filter now; else it leads to another
  [[nodiscard]] bool take(session& with, std::string_view name, const image::filter_id& id) const;
  /// What filters without a name have left: whoever took the name off, or put another filter in their place,
  /// may have died before it was cleared away.
  struct leftovers {
    std::vector<image::filter_id> being_removed{};  ///< their keys are to be removed
    std::vector<std::pair<image::filter_id, image::filter_id>>
        kept{};  ///< as long as the second asks the first
  };
  [[nodiscard]] leftovers left(session& with) const;
  void note_removed(session& with, const image::filter_id& id) const;
  /// A filter that was kept is being removed from now on.
  void release(session& with, const image::filter_id& kept) const;

  /// Whatever name leads to `old` leads to `successor`, which asks it first: so it is kept. Links go with the
  /// name.
  /// @return whether a name leads to `successor` now, by this call or an earlier one. If not, and nobody asks
  /// it, it
  ///         is being removed
  [[nodiscard]] bool succeed(session& with, const image::filter_id& old,
                             const image::filter_id& successor) const;
  /// Whether that is done to a filter that another one asks first.
  enum class while_asked : bool { no, yes };
  /// Takes the name off this filter, which is being removed from then on. A link of which it is the newer one
  /// goes with it.
  /// @return false  the name leads to another one, or to none, or another one asks it
  [[nodiscard]] bool forget(session& with, std::string_view name, const image::filter_id& id,
                            while_asked how) const;

  enum class moved : std::uint8_t {
    done,
    left,    ///< the old name does not lead to this filter
    taken,   ///< the new name leads to another filter than `instead_of`
    linked,  ///< a filter of one of the names asks another one first, or is asked by one
  };
  /// Gives a filter another name.    @param instead_of  what the new name may lead to; nothing: it is free
  [[nodiscard]] moved move(session& with, std::string_view from, std::string_view to,
                           const image::filter_id& id,
                           const std::optional<image::filter_id>& instead_of) const;

 private:
  [[nodiscard]] reply ask(session& with, const std::string& command) const;
  [[nodiscard]] format_error is_lost() const;
  [[nodiscard]] bool take_by_commands(session& with, std::string_view name, const image::filter_id& id) const;

  route at_;
  std::string sign_;
  std::string links_;
};

}  // namespace everseen::redis
