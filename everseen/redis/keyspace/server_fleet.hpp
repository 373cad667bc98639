#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

// Several independent servers that share filters: doc/format.md, "Servers".
//
// Partition P of a filter is on server P modulo their number; the names are on the first. Each server stores
// an id of its own and the ids of all, so the order in a URL does not matter, and a server that lost its data
// or belongs to another fleet is recognised.

/// The fleet that the servers of a URL form.
struct server_fleet {
  redis_url url;                 ///< with its servers in the order of the fleet
  std::vector<std::string> ids;  ///< in the same order

  /// The ids of the servers of another URL, in its order, concatenated.
  /// @pre they are those of this fleet
  [[nodiscard]] std::string ids_of(const redis_url& named) const;
  /// The URL with its servers in the order of these ids.
  /// @throws format_error  they are not those of this fleet
  [[nodiscard]] redis_url in_order_of(std::string_view those) const;
};

/// @return nothing: no filter is spread over these servers yet
/// @pre url.shape is many    Cost: one round trip to all servers.
/// @throws parameter_error  the URL names other servers than the fleet has, and the message names them
/// @throws format_error     a server has lost its data, or is another one
/// @throws backend_error    several servers do not answer, or one does not and no other knows the fleet
[[nodiscard]] std::optional<server_fleet> find_fleet(server_connections& connections, const redis_url& url);

/// Refuses a server that has partitions of a fleet but not its names: a second filter of the same name could
/// be created there.
/// @pre url.shape is one
/// @throws parameter_error  the server belongs to a fleet, and is not the first
void require_names_here(server_connections& connections, const redis_url& url);

/// As find_fleet; founds the fleet if there is none. Several clients may do so concurrently.
/// @throws  as find_fleet
[[nodiscard]] server_fleet found_fleet(server_connections& connections, const redis_url& url);

/// The servers of a URL, in the order of their fleet once there is one. Does not connect before it is asked.
/// Threads: any number.
class fleet_servers {
 public:
  explicit fleet_servers(redis_url url);

  enum class purpose : bool { look, found };
  /// @param intent  `found`: a filter is about to be created, so the servers become a fleet
  /// @throws  as find_fleet, found_fleet, require_names_here
  [[nodiscard]] std::shared_ptr<connection_pool> connected(purpose intent = purpose::look) const;
  /// As the URL names them.
  [[nodiscard]] const std::shared_ptr<connection_pool>& named() const noexcept { return named_; }
  [[nodiscard]] const redis_url& url() const noexcept { return named_->url(); }
  [[nodiscard]] bool are_spread() const noexcept { return url().shape == redis_url::topology::many; }
  /// The independent servers over which a filter is spread.
  [[nodiscard]] std::size_t count() const noexcept { return are_spread() ? url().endpoints.size() : 1; }
  /// Nothing before connected() has found it, or where a URL names one server or a cluster.
  [[nodiscard]] std::optional<server_fleet> fleet() const;

 private:
  const std::shared_ptr<connection_pool> named_;
  mutable std::mutex lock_;  // guards what follows
  mutable std::shared_ptr<connection_pool> ordered_{};
  mutable std::optional<server_fleet> fleet_{};
};

}  // namespace everseen::redis
