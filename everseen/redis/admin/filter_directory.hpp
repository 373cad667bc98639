#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/admin/filter_removal.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// A filter found by its name.
struct found_filter {
  filter_identity identity;
  filter_header header;
};
/// Refuses operations on attached filters that would discard or replace the other program's bits.
/// @param instead  what to do    @throws parameter_error  the filter is attached
void require_own(std::string_view name, const filter_header& h, std::string_view instead);

/// The filters on the servers of a URL: creates, finds, renames and drops them.
///
/// A filter is visible while a name leads to it, and until it expires. Before that, its keys have a time
/// limit; afterwards they are removed: by the client that removed the name, by one that needs it, or by the
/// next call of remove_expired().
class filter_directory {
 public:
  /// @param servers  the number of independent servers in the URL, 1 for a cluster; 0: unknown, and no filter
  ///   is created
  explicit filter_directory(const std::string& prefix, std::size_t servers = 0)
      : prefix_(prefix), servers_(servers), names_(prefix), removal_(prefix, servers) {}

  [[nodiscard]] filter_keys keys_of(const image::filter_id& id) const { return {prefix_, id}; }

  /// The filter of this name, unless it has expired.    @throws backend_error, format_error
  [[nodiscard]] std::optional<image::filter_id> find(server_connections& connections,
                                                     std::string_view name) const;
  [[nodiscard]] bool has(server_connections& connections, std::string_view name) const {
    return find(connections, name).has_value();
  }
  /// The names of filters that have not expired.    @throws backend_error
  [[nodiscard]] std::vector<std::string> names(server_connections& connections) const;

  /// Creates an empty filter.
  /// @param life  until it expires; nothing: it never does
  /// @throws name_taken    @throws parameter_error  less than a second    @throws backend_error
  [[nodiscard]] filter_identity create(server_connections& connections, std::string_view name, const spec& s,
                                       std::optional<std::chrono::milliseconds> life) const;
  /// Gives a filter of another program a name here.    @throws name_taken    @throws backend_error
  /// @param instances  filter_header::instances
  void attach(server_connections& connections, std::string_view name, attached_record a,
              std::string instances) const;
  /// A filter that no name leads to yet.
  [[nodiscard]] filter_identity draft(const spec& s) const;
  /// Creates the remaining keys of a draft whose segments exist, with a time limit.
  /// @param states  one per partition, or none: it is empty
  /// @param header     its expiry time, and the filter that it succeeds, if any; other fields are ignored
  /// @throws backend_error    @throws storage_error  a server lost a part of it
  void prepare(server_connections& connections, const filter_identity& made,
               std::span<const partition_state> states, filter_header header) const;
  /// Makes a prepared filter visible.    @throws  as create
  void publish(server_connections& connections, std::string_view name, const filter_identity& made) const;
  /// To write: also finishes what an interrupted client may have left undone: a creation, a rebuild.
  /// @throws no_filter    @throws filter_expired    @throws format_error  its header is missing or damaged
  /// @throws backend_error
  [[nodiscard]] found_filter look_up(server_connections& connections, std::string_view name,
                                     bool to_write) const;
  /// The same, for operations that do not need its header.
  [[nodiscard]] filter_identity open(server_connections& connections, std::string_view name,
                                     bool to_write) const {
    return look_up(connections, name, to_write).identity;
  }
  /// The links between filters, for both kinds of judges. Linked filters are neither dropped nor renamed.
  [[nodiscard]] link_hash links() const { return link_hash(prefix_); }
  /// @throws  as filter_admin::link    @throws backend_error  also if scripts are forbidden
  void link(server_connections& connections, std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) const;
  /// @throws  as filter_admin::unlink
  void unlink(server_connections& connections, std::string_view newer) const;
  /// @throws no_filter
  /// @throws parameter_error  another filter asks it first, or it is spread over other servers
  /// @throws backend_error  its name is removed, but not all of its keys
  void drop(server_connections& connections, std::string_view name) const;
  /// Removes all keys, partition by partition, each in one step; clients continue undisturbed.
  /// @throws no_filter    @throws parameter_error  it has jobs, or is attached
  /// @throws backend_error, format_error
  void reset(server_connections& connections, std::string_view name) const;
  /// @throws no_filter, name_taken
  /// @throws parameter_error  one of the filters has a link, or the replaced one is spread over other servers
  /// @throws backend_error
  void rename(server_connections& connections, std::string_view from, std::string_view new_name,
              bool replace) const;
  /// Removes all expired filters, and what is left of others. Any number of clients may do so concurrently,
  /// and each may crash: the next one continues.
  /// Cost: two round trips, and a look at each header, if there is nothing to remove.    @throws
  /// backend_error
  void remove_expired(server_connections& connections) const;
  /// Removes the filter of this name if it has expired.    @throws backend_error
  void make_way(server_connections& connections, std::string_view name) const;
  /// Removes what is left of others.
  [[nodiscard]] const filter_removal& removal() const noexcept { return removal_; }

 private:
  [[nodiscard]] name_index::entries take_expired(server_connections& connections,
                                                 name_index::entries& from) const;
  [[nodiscard]] bool has_expired(server_connections& connections, const image::filter_id& id) const;
  void take_name(server_connections& connections, std::string_view name, const filter_identity& made) const;
  void make_way_of_asker(server_connections& connections, std::string_view name) const;
  void require_unlinked(server_connections& connections, std::string_view name) const;
  void remove(server_connections& connections, std::string_view name, const image::filter_id& id) const;
  void require_here(std::string_view name, std::size_t servers) const;

  std::string prefix_;
  std::size_t servers_;
  name_index names_;
  filter_removal removal_;
};

}  // namespace everseen::redis
