#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/keyspace/server_fleet.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::redis {

/// Opens a filter that another program keeps; `fleet` as fleet_servers::fleet().
using attached_opener = std::function<std::shared_ptr<stored_filter>(
    std::shared_ptr<connection_pool> servers, const found_filter& f, const std::optional<server_fleet>& fleet,
    access mode)>;

/// Filters on Redis: one instance, several independent ones, or a cluster; Redis 5 or later, Valkey.
///
/// A filter is a name in the index, which leads to an id, and the keys of that id: doc/format.md, "In Redis".
/// Servers with the everseen module judge keys, others leave that to clients. Any number of clients may use,
/// fill and grow a filter concurrently; creating, renaming, replacing and dropping it are atomic for all of
/// them.
class redis_store final : public store {
 public:
  /// Does not connect yet.
  /// @param open_attached  without it, open() refuses attached filters
  explicit redis_store(redis_url url, attached_opener open_attached = {});

  /// Its servers, as those need them who attach filters.
  [[nodiscard]] const fleet_servers& servers() const noexcept { return servers_; }

  /// Where clients judge, a segment is a Redis string, of at most 512 MiB.
  [[nodiscard]] store_traits traits() const override;
  [[nodiscard]] std::vector<std::string> warnings(concern about) const override;
  [[nodiscard]] std::vector<server_report> reports() const override;
  std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> p) override {
    return servers_.named()->wait_with(std::move(p));
  }
  /// If the request leaves it open: servers judge if all of them have the module, else clients.
  [[nodiscard]] spec plan(const spec_request& request) const override;
  /// The header has the expiry time, by the clock of its server; use does not extend it. What is expired is
  /// removed by the next client that creates a filter or opens one to write, at most once a minute each: see
  /// remove_expired().
  /// @throws parameter_error  also: servers are to judge it, and one of them lacks the module
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                        std::optional<std::chrono::milliseconds> life = {}) override;
  /// @throws storage_error  the filter is linked to another one, which cannot be opened    @throws  as store
  std::shared_ptr<stored_filter> open(std::string_view name, access mode) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;

  [[nodiscard]] filter_facts facts(std::string_view name) const override;
  /// @throws parameter_error  also: it is being rebuilt, or has jobs
  void expire_at(std::string_view name, std::optional<event_time> when) override;
  [[nodiscard]] std::vector<std::string> jobs(std::string_view name) const override;
  void end_job(std::string_view name, std::string_view job) override;
  /// By the clock of the servers. A backend_error if scripts are forbidden.
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  /// An attached filter only loses its name here: none of its own program's keys is touched.
  void drop(std::string_view name) override;
  void rename(std::string_view from, std::string_view new_name, namesake there) override;
  /// Cost: two round trips and two commands for each filter if none has expired.
  void remove_expired() override;
  /// Partition by partition, each in one step that no batch interleaves with; clients continue undisturbed.
  void reset(std::string_view name) override;
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;
  /// As plan() about who judges: a spec of another store says nothing about that.
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  std::shared_ptr<stored_filter> open_alone(const std::shared_ptr<connection_pool>& pool,
                                            std::string_view name, access mode);
  std::shared_ptr<stored_filter> open_linked(server_connections& connections, std::string_view name,
                                             const predecessor& older, access mode);
  void sweep(server_connections& connections);

  const fleet_servers servers_;
  const attached_opener open_attached_;
  const filter_directory directory_;
  std::mutex lock_;  // guards what follows
  std::optional<std::chrono::steady_clock::time_point> swept_{};
};

}  // namespace everseen::redis
