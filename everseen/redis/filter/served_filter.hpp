#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/served/stored_value.hpp"

namespace everseen::redis {

/// A filter on Redis servers that they judge, by the everseen module: each partition is one value there.
///
/// Its header says how long it lives. A filter that is one value under a key of its users
/// (filter_keys::of_value) has none: anyone may drop it or make another one there, so its spec is compared at
/// most once a second while it is in use. It has no jobs.
///
/// Bits, counts, growth and windows are in the values; this object knows none of them. Threads: any number.
class served_filter final : public sealable_filter {
 public:
  served_filter(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                access mode);

  [[nodiscard]] std::optional<image::filter_id> successor() const override;
  void move_window_to(window::slice_index newest) override;
  void clear() override {}

  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  [[nodiscard]] batch_path path() const override;
  /// @throws parameter_error  also if it is one value without a header
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;

 private:
  [[nodiscard]] std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) override;
  void require_life(server_connections& connections) const override;
  batch_result run(std::span<const partition_batch> batches, partition_task::purpose intent) const;
  [[nodiscard]] std::optional<batch_failure> drive_all(server_connections& connections,
                                                       std::vector<partition_task>& tasks) const;
  [[nodiscard]] stored_value read(server_connections& connections, std::uint32_t partition) const;
  void note_successor(const std::optional<image::filter_id>& successor) const;

  mutable filter_life life_{identity()};  // unless it is one value
  mutable std::atomic<std::chrono::steady_clock::rep> compare_again_at_{0};
  mutable std::mutex lock_;  // guards what follows
  mutable std::optional<image::filter_id> successor_{};
};

}  // namespace everseen::redis
