#pragma once

#include <memory>
#include <string>
#include <vector>

#include "everseen/redis/generations.hpp"
#include "everseen/redis/partition_task.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

/// A filter on Redis servers, shared with any number of other clients.
///
/// Bits, counts and growth live on the servers; this object remembers only how each partition looked last.
/// Every call to a server names the epoch that it was planned for, and a server that has moved on refuses it,
/// so a plan made from an old picture costs a round trip and never a wrong verdict.
class redis_filter final : public stored_filter {
 public:
  /// @param gear  as choose_gear() says
  redis_filter(std::shared_ptr<session_pool> pool, remote_filter f, gear_kind gear, access how);

  [[nodiscard]] const spec& get_spec() const noexcept override { return filter_.spec; }
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// @throws format_error  a segment is missing, or has another type or length
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  /// Nothing to do: what a server does with acknowledged writes is its own configuration.
  void sync() override {}
  [[nodiscard]] std::string place_of(std::uint32_t partition) const override;
  /// Asks the server, as another client may have given it another end.
  [[nodiscard]] std::optional<event_time> ends_at() const override;
  /// On all servers. Where scripts are forbidden that is a backend_error.
  void end_at(std::optional<event_time> when) override;
  /// For all filters of the store, as they share connections. An outage may then last for hours, so the
  /// servers remember their answers for a day.
  void wait_with(std::shared_ptr<patience> p) override;
  [[nodiscard]] std::string way() const override;
  /// Of a filter that was opened for reading only a job that is there, to be read.
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::string_view description) override;
  [[nodiscard]] std::vector<std::string> jobs() const override;
  [[nodiscard]] job_size size_of_job(std::string_view job) const override;
  /// @throws storage_error  the filter was opened for reading
  void end_job(std::string_view job) override;

 private:
  batch_result run(std::span<const partition_batch> batches, partition_task::purpose what) const;
  [[nodiscard]] remote_partition load(session& with, std::uint32_t partition) const;
  [[nodiscard]] std::optional<segment_id> first_lost(session& with, const remote_partition& p) const;
  void require_gone(session& with, const remote_partition& then, const segment_id& id) const;
  [[nodiscard]] std::optional<std::vector<std::byte>> fetch(session& with, const segment_id& id,
                                                            std::uint64_t bytes) const;

  std::shared_ptr<session_pool> pool_;
  const remote_filter filter_;  // as it was when it was opened
  const gear_kind gear_;
  const access how_;
  mutable generations generations_;
};

}  // namespace everseen::redis
