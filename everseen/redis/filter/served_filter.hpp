#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/keyspace/filter_life.hpp"
#include "everseen/redis/served/command_set.hpp"
#include "everseen/redis/served/partition_task.hpp"

namespace everseen::redis {

/// A filter on Redis servers that they judge, by the module or by scripts.
///
/// Bits, counts and growth are on the servers; this object only caches the state of each partition. Every
/// call names the epoch that it was planned for, and the server refuses a call with another epoch. So a stale
/// cache costs a round trip and never a wrong verdict. Threads: any number.
class served_filter final : public sealable_filter {
 public:
  /// @param by  from choose_commands()
  served_filter(std::shared_ptr<session_pool> pool, std::string name, const filter_identity& f,
                command_kind by, access how);

  [[nodiscard]] std::optional<image::filter_id> successor() const override;
  void move_window_to(window::slice_index newest) override;
  void clear() override;

  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// @throws format_error  a segment is missing, or has another type or length
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  [[nodiscard]] batch_path path() const override;

 private:
  [[nodiscard]] std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) override;
  void require_life(session& with) const override { life_.require(with); }
  batch_result run(std::span<const partition_batch> batches, partition_task::purpose what) const;
  [[nodiscard]] std::optional<batch_failure> drive_all(session& with,
                                                       std::vector<partition_task>& tasks) const;
  [[nodiscard]] command_set commands(const session& with) const;
  void learn(const partition_task& task) const;
  [[nodiscard]] remote_partition load(session& with, std::uint32_t partition) const;
  [[nodiscard]] std::optional<segment_id> first_lost(session& with, const remote_partition& p) const;
  void require_gone(session& with, const remote_partition& then, const segment_id& id) const;

  const command_kind by_;
  mutable filter_life life_{identity()};
  mutable std::mutex lock_;  // guards what follows
  mutable std::vector<std::shared_ptr<const remote_partition>> known_;
  mutable std::optional<image::filter_id> successor_{};
};

}  // namespace everseen::redis
