#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/keyspace/link_hash.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// A filter as its name leads to it.
struct found_filter {
  filter_identity identity;
  filter_header header;
};
/// What would throw bits away, or put others in their place, is not done to those of another program.
/// @param instead  what to do    @throws parameter_error  the filter is attached
void require_own(std::string_view name, const filter_header& h, std::string_view instead);

/// The filters on the servers of a URL: made, found, renamed and dropped.
///
/// A filter is visible from when its name leads to it until it does not, or until it ends. Until then its
/// keys have a time limit; after that they are removed, by whoever took the name off, or needs the name.
class filter_directory {
 public:
  /// @param servers  how many independent ones the URL names, 1 in a cluster; 0: not known, and nothing is
  /// made
  explicit filter_directory(const std::string& prefix, std::size_t servers = 0)
      : prefix_(prefix), servers_(servers), names_(prefix) {}

  [[nodiscard]] filter_keys keys_of(const image::filter_id& id) const { return {prefix_, id}; }

  /// The filter of this name, unless it has ended.    @throws backend_error, format_error
  [[nodiscard]] std::optional<image::filter_id> find(session& with, std::string_view name) const;
  [[nodiscard]] bool has(session& with, std::string_view name) const { return find(with, name).has_value(); }
  /// The same of one that may have ended.    @throws backend_error, format_error
  [[nodiscard]] bool lists(session& with, std::string_view name) const;
  /// The names of filters that have not ended.    @throws backend_error
  [[nodiscard]] std::vector<std::string> names(session& with) const;

  /// Makes an empty filter.
  /// @param life  for so long; nothing: until it is dropped
  /// @throws name_taken    @throws parameter_error  less than a second    @throws backend_error
  [[nodiscard]] filter_identity create(session& with, std::string_view name, const spec& s,
                                       std::optional<std::chrono::milliseconds> life) const;
  /// Gives a filter of another program a name here.    @throws name_taken    @throws backend_error
  /// @param instances  filter_header::instances
  void attach(session& with, std::string_view name, const attachment& a, std::string instances) const;
  /// A filter that nobody knows yet.
  [[nodiscard]] filter_identity draft(const spec& s) const;
  /// Makes the other keys of one whose segments are there, with a time limit.
  /// @param states  one a partition, or none: it is empty
  /// @param how     its end, and what it succeeds, if anything; all else does not matter    @throws
  /// backend_error
  void prepare(session& with, const filter_identity& made, std::span<const partition_state> states,
               filter_header how) const;
  /// Makes one visible that was prepared.    @throws  as create
  void publish(session& with, std::string_view name, const filter_identity& made) const;
  /// Finishes what its creator, or who gave it another end or began to rebuild it, may have left undone, if
  /// it may.
  /// @throws no_filter    @throws filter_expired    @throws format_error  its header is missing or damaged
  /// @throws backend_error
  [[nodiscard]] found_filter look_up(session& with, std::string_view name, bool to_write) const;
  /// The same, where its header does not matter.
  [[nodiscard]] filter_identity open(session& with, std::string_view name, bool to_write) const {
    return look_up(with, name, to_write).identity;
  }
  /// Which filters ask which other ones first.
  [[nodiscard]] link_hash links() const { return link_hash(prefix_); }
  /// @throws no_filter
  /// @throws parameter_error  another filter asks it first, or it is spread over other servers
  /// @throws backend_error  it is hidden, but not all of its keys are gone
  void drop(session& with, std::string_view name) const;
  /// Forgets all keys, partition by partition, each in one step; clients go on as before.
  /// @throws no_filter    @throws parameter_error  it has jobs, or is attached
  /// @throws backend_error, format_error
  void reset(session& with, std::string_view name) const;
  /// @throws no_filter, name_taken
  /// @throws parameter_error  one of the filters has a link, or what is replaced is spread over other servers
  /// @throws backend_error
  void rename(session& with, std::string_view from, std::string_view to, bool replace) const;
  /// Removes all filters that have ended.    @throws backend_error
  void remove_expired(session& with) const;
  /// Removes the filter of this name if it has ended.    @throws backend_error
  void make_way(session& with, std::string_view name) const;
  /// Removes what is left of filters that were dropped, replaced or rebuilt, but not of those that are spread
  /// over other servers.    @throws backend_error
  void finish_removals(session& with) const;

 private:
  [[nodiscard]] std::pair<name_index::entries, name_index::entries> live_and_ended(session& with) const;
  [[nodiscard]] bool has_expired(session& with, const image::filter_id& id) const;
  void take_name(session& with, std::string_view name, const filter_identity& made) const;
  void make_way_of_asker(session& with, std::string_view name) const;
  void require_unlinked(session& with, std::string_view name) const;
  void remove(session& with, std::string_view name, const image::filter_id& id) const;
  [[nodiscard]] bool lies_elsewhere(std::size_t servers) const noexcept {
    return servers_ > 0 && servers > 0 && servers != servers_;
  }
  void require_here(std::string_view name, std::size_t servers) const;
  [[nodiscard]] bool remove_keys(session& with, const image::filter_id& id) const;
  [[nodiscard]] bool is_unknown(session& with, const image::filter_id& id) const;

  std::string prefix_;
  std::size_t servers_;
  name_index names_;
};

}  // namespace everseen::redis
