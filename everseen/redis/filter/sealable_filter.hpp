#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/spec/window.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::redis {

/// A filter on Redis servers by its id: one generation of what a name leads to.
///
/// A rebuild seals its partitions: from then on nothing is added to it, and another filter succeeds it. This
/// class does what is common to both judges: the header and the list of jobs. Threads: any number.
class sealable_filter : public stored_filter {
 public:
  [[nodiscard]] const filter_identity& identity() const noexcept { return filter_; }
  /// The successor, if a batch has met a sealed partition. Keys that were to be added there have no verdict;
  /// look-ups have one, by the final content of this filter.
  [[nodiscard]] virtual std::optional<image::filter_id> successor() const = 0;
  /// Advances the window of all partitions that are behind.    @throws  as batch_failure::raise
  virtual void move_window_to(window::slice_index newest) = 0;
  /// Frees the memory of all cached content; it is read again when needed.
  virtual void clear() = 0;

  [[nodiscard]] const spec& get_spec() const noexcept override { return filter_.spec; }
  /// Does nothing: the durability of acknowledged writes is configured on the server.
  void sync() override {}
  /// Asks the server, as another client may have changed it.
  [[nodiscard]] std::optional<event_time> expires_at() const override;
  void expire_at(std::optional<event_time> when) override;
  [[nodiscard]] std::string place_of(std::uint32_t partition) const override;
  /// Applies to all filters of the store, as they share connections.
  void wait_with(std::shared_ptr<retry_policy> p) override { pool_->wait_with(std::move(p)); }
  /// For a filter opened for reading: only an existing job, to be read.
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::string_view description) override;
  [[nodiscard]] std::vector<std::string> jobs() const override;
  [[nodiscard]] job_size size_of_job(std::string_view job) const override;
  /// @throws storage_error  the filter was opened for reading
  void end_job(std::string_view job) override;

 protected:
  sealable_filter(std::shared_ptr<session_pool> pool, std::string name, const filter_identity& f, access how);

  [[nodiscard]] virtual std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) = 0;
  /// @throws storage_error  it has expired, or was dropped    @throws format_error, backend_error
  virtual void require_life(session& with) const = 0;

  [[nodiscard]] session_pool::lease session_now() const { return pool_->take(); }
  [[nodiscard]] const std::shared_ptr<session_pool>& pool() const noexcept { return pool_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool may_write() const noexcept { return how_ == access::write; }

 private:
  [[nodiscard]] listed_job begin_job(session& with, std::string_view job, std::string_view description);

  const std::shared_ptr<session_pool> pool_;
  const std::string name_;
  const filter_identity filter_;
  const access how_;
  const job_list jobs_;
};

/// The filter with this id, judged by its clients or its servers, according to its spec.
/// @param name  for messages
/// @throws parameter_error, backend_error  as choose_commands()
[[nodiscard]] std::shared_ptr<sealable_filter> open_sealable(std::shared_ptr<session_pool> pool,
                                                             std::string name, const filter_identity& f,
                                                             access how);

}  // namespace everseen::redis
