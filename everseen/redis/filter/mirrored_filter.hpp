#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "everseen/redis/journal/mirror_set.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

/// A filter on Redis servers that its clients judge: a server keeps the order in which keys were added, each
/// client the bits.
///
///     key ──> mirror has it: seen, and no server hears of it
///         └─> mirror has it not ──> record ──> compare and append ──added──> fresh, and set in the mirror
///                          ^                         └──somebody else was faster──┐
///                          └──────────────── read on, judge again <───────────────┘
///
/// A partition's mirror is loaded when it is used first. A key that was added elsewhere is `seen` here as
/// soon as this client asks the server anything about its partition, which it does before it calls any key
/// `fresh`, and once a second while it is asked about keys at all. Until when it may be used it learns as
/// often (filter_life).
///
/// Memory: that of the filter, once in each process that has it open. Threads: any number; two batches meet
/// only in a partition that both have keys of.
class mirrored_filter final : public stored_filter {
 public:
  mirrored_filter(std::shared_ptr<session_pool> pool, std::string name, const filter_identity& f, access how);

  [[nodiscard]] const filter_identity& identity() const noexcept { return mirrors_.filter(); }
  /// The filter that succeeds this one, if a batch has met a sealed partition. What was to be added there has
  /// no verdict; a look-up has one, by what this filter had in the end.
  [[nodiscard]] std::optional<image::filter_id> successor() const { return mirrors_.successor(); }
  /// Moves the window of all partitions on, as far as it is behind.    @throws  as batch_failure::raise
  void move_window_to(window::slice_index newest);
  /// Gives the memory of the bits back; where they are used again, they are loaded again.
  void clear() { mirrors_.clear(); }

  [[nodiscard]] const spec& get_spec() const noexcept override { return mirrors_.filter().spec; }
  batch_result add(std::span<const partition_batch> batches) override;
  /// Asks first where each journal ends, so it knows of every key that was acknowledged before.
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  /// Nothing to do: what a server does with acknowledged writes is its own configuration.
  void sync() override {}
  [[nodiscard]] std::optional<event_time> ends_at() const override;
  void end_at(std::optional<event_time> when) override;
  [[nodiscard]] std::string place_of(std::uint32_t partition) const override;
  void wait_with(std::shared_ptr<patience> p) override { pool_->wait_with(std::move(p)); }
  [[nodiscard]] std::string way() const override { return "redis, judged here"; }
  /// Of a filter that was opened for reading only a job that is there, to be read.
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::string_view description) override;
  [[nodiscard]] std::vector<std::string> jobs() const override;
  [[nodiscard]] job_size size_of_job(std::string_view job) const override;
  /// @throws storage_error  the filter was opened for reading
  void end_job(std::string_view job) override;

 private:
  /// @param now  the fields end and successor, as the server has just told
  [[nodiscard]] tally check_in(session& with, const partition_batch& batch, const reply& now,
                               std::chrono::steady_clock::time_point asked) const;
  [[nodiscard]] listed_job open_job(session& with, std::string_view job, std::string_view description);

  std::shared_ptr<session_pool> pool_;
  const std::string name_;
  const access how_;
  mutable mirror_set mirrors_;
  const job_list jobs_;
};

}  // namespace everseen::redis
