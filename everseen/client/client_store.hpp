#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/client/server_link.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::client {

/// The filters of a running `everseen serve`: doc/operations.md, "As a store".
///
/// Any number of processes share them, and no process has their bits. Jobs, links and rebuilds belong to the
/// store of the server; they are refused here, with advice.
class client_store final : public store {
 public:
  /// Does not connect yet.    @throws parameter_error  as server_link
  explicit client_store(redis::redis_url url);

  [[nodiscard]] store_traits traits() const override {
    return {.is_remote = true, .batches_wait = true, .offers_jobs = false};
  }
  /// Filters are hashed by siphash unless the request says otherwise, as a server may be open to strangers.
  /// All but small filters get several partitions, so that the server can judge for many clients in parallel.
  [[nodiscard]] spec plan(const spec_request& request) const override;
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                        std::optional<std::chrono::milliseconds> life = {}) override;
  std::shared_ptr<stored_filter> open(std::string_view name, access mode) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  [[nodiscard]] filter_facts facts(std::string_view name) const override;
  void expire_at(std::string_view name, std::optional<event_time> when) override;
  void drop(std::string_view name) override;
  void rename(std::string_view from, std::string_view new_name, namesake there) override;
  void reset(std::string_view name) override;
  void remove_expired() override {}  // the server does
  [[nodiscard]] std::vector<std::string> jobs(std::string_view name) const override;
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  void end_job(std::string_view name, std::string_view job) override;
  std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> p) override {
    return link_->wait_with(std::move(p));
  }
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  const std::shared_ptr<const server_link> link_;
};

}  // namespace everseen::client
