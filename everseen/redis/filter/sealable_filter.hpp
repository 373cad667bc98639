#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/spec/window.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen::redis {

/// A filter on Redis servers, identified by its id: one generation of the filter that a name leads to.
///
/// A rebuild seals its partitions: from then on nothing is added to it, and another filter succeeds it. This
/// class has the parts common to both kinds of judges: the header and the list of jobs. Threads: any number.
class sealable_filter : public stored_filter {
 public:
  [[nodiscard]] const filter_identity& identity() const noexcept { return filter_; }
  /// The successor, if a batch has met a sealed partition. Keys that were to be added there have no verdict;
  /// look-ups have one, by the final content of this filter.
  [[nodiscard]] virtual std::optional<image::filter_id> successor() const = 0;
  /// Advances the window of all partitions that are behind.    @throws  as batch_failure::raise
  virtual void move_window_to(window::slice_index newest) = 0;
  /// From now on look-ups ask the servers, whatever `staleness=` of the URL allows: what they answer decides
  /// whether a key is added.
  virtual void ignore_staleness() noexcept {}
  /// Frees the memory of all cached content; it is read again when needed.
  virtual void clear() = 0;
  /// @throws storage_error  it has expired, or was dropped    @throws format_error, backend_error
  virtual void require_life(server_connections& connections) const = 0;

  [[nodiscard]] const spec& get_spec() const noexcept override { return filter_.spec; }
  /// Does nothing: the durability of acknowledged writes is configured on the server.
  void sync() override {}
  /// For a filter opened for reading: only an existing job, to be read.
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;

 protected:
  sealable_filter(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                  access mode);

  [[nodiscard]] virtual std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) = 0;

  /// @throws parameter_error  it was opened for reading
  void must_take_siblings() const;
  /// The servers of all partitions, and this text.    @throws backend_error
  [[nodiscard]] batch_path path_by(std::string text) const;
  [[nodiscard]] connection_pool::lease session_now() const { return pool_->take(); }
  [[nodiscard]] const std::shared_ptr<connection_pool>& pool() const noexcept { return pool_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool may_write() const noexcept { return mode_ == access::write; }

 private:
  [[nodiscard]] std::optional<listed_job> begin_job(server_connections& connections, std::string_view job,
                                                    std::optional<std::string_view> description);

  const std::shared_ptr<connection_pool> pool_;
  const std::string name_;
  const filter_identity filter_;
  const access mode_;
  const job_list jobs_;
};

/// The two kinds.    @pre the spec names this judge; the servers have the module if they judge
[[nodiscard]] std::shared_ptr<sealable_filter> open_mirrored(std::shared_ptr<connection_pool> pool,
                                                             std::string name, const filter_identity& f,
                                                             access mode);
[[nodiscard]] std::shared_ptr<sealable_filter> open_served(std::shared_ptr<connection_pool> pool,
                                                           std::string name, const filter_identity& f,
                                                           access mode);

/// The filter with this id, judged by its clients or its servers, according to its spec.
/// @param name  for messages
/// @throws parameter_error  servers judge it, and one of them lacks the module
/// @throws backend_error    none of them answers
[[nodiscard]] std::shared_ptr<sealable_filter> open_sealable(std::shared_ptr<connection_pool> pool,
                                                             std::string name, const filter_identity& f,
                                                             access mode);

}  // namespace everseen::redis
