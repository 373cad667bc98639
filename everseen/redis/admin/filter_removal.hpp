#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "everseen/core/format/image.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// Removes what is left of filters that were dropped, replaced or rebuilt: they have lost their names, and
/// name_index lists them. Any number of clients may do so concurrently, and each may crash: the next one
/// continues.
///
/// Threads: any number.
class filter_removal {
 public:
  /// @param servers  as of filter_directory
  filter_removal(std::string prefix, std::size_t servers)
      : prefix_(std::move(prefix)), servers_(servers), names_(prefix_) {}

  /// Removes all, except those that are spread over other servers.    @throws backend_error
  void finish(server_connections& connections) const;
  /// @param done  what has been done before, for the error
  void finish_after(server_connections& connections, const std::string& done) const;
  /// Whether a filter that says how many servers it has needs another URL.
  [[nodiscard]] bool lies_elsewhere(std::size_t servers) const noexcept {
    return servers_ > 0 && servers > 0 && servers != servers_;
  }

 private:
  [[nodiscard]] bool remove_more(server_connections& connections) const;
  [[nodiscard]] bool remove_keys(server_connections& connections, const image::filter_id& id) const;
  [[nodiscard]] bool is_unknown(server_connections& connections, const image::filter_id& id) const;
  [[nodiscard]] bool still_asks(server_connections& connections, const image::filter_id& asker,
                                const image::filter_id& kept) const;

  std::string prefix_;
  std::size_t servers_;
  name_index names_;
};

}  // namespace everseen::redis
