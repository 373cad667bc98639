#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/journal/mirror_set.hpp"

namespace everseen::redis {

/// A filter on Redis servers that its clients judge: a server keeps the order in which keys were added, each
/// client the bits.
///
///     key ──> mirror has it: seen, without a request to the server
///         └─> mirror lacks it ──> record ──> compare and append ──added──> fresh, and set in the mirror
///                        ^                         └──another client was faster──┐
///                        └──────────────── read on, judge again <────────────────┘
///
/// A partition's mirror is loaded when it is first used. A key that another client added is `seen` here as
/// soon as this client asks the server about the key's partition. It does so before it calls any key `fresh`,
/// and once a second while it is in use. As often, it checks whether the filter has expired (filter_life).
///
/// Memory: the size of the filter, in each process that has it open. Threads: any number; two batches wait
/// for each other only if they have keys of the same partition.
class mirrored_filter final : public sealable_filter {
 public:
  mirrored_filter(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                  access mode);

  [[nodiscard]] std::optional<image::filter_id> successor() const override { return mirrors_.successor(); }
  void move_window_to(window::slice_index newest) override;
  void clear() override { mirrors_.clear(); }

  batch_result add(std::span<const partition_batch> batches) override;
  /// First asks where each journal ends, so that it knows of every key that was acknowledged before. Skips
  /// this if it was asked as recently as `staleness=` of the URL allows.
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  [[nodiscard]] batch_path path() const override { return path_by("redis, judged here"); }

 private:
  [[nodiscard]] std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) override;
  void require_life(server_connections& connections) const override { mirrors_.require_life(connections); }
  [[nodiscard]] std::optional<tally> check_unasked(const partition_batch& batch) const;
  /// @param fields  end and successor, as just read from the server
  [[nodiscard]] tally check_in(server_connections& connections, const partition_batch& batch,
                               const reply& fields, std::chrono::steady_clock::time_point asked) const;

  mutable mirror_set mirrors_;
};

}  // namespace everseen::redis
