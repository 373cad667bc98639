#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/embedded/embedded_filter.hpp"
#include "everseen/store/file/file_segments.hpp"
#include "everseen/store/job_log/job_log.hpp"

namespace everseen {

/// The resources of a writer, which must outlive its logic.
struct writer_files {
  lock_file lock;  // released last
  std::unique_ptr<file_segments> bits;
};

/// A filter in files, opened for writing: at most one writer at a time, among all processes.
///
/// Once the disk has failed, every batch fails with that reason until the filter is reopened.
class file_writer final : private writer_files, public embedded_filter {
 public:
  /// @param exclusive  the writer's lock on the directory
  /// @param clock        the clock for expiry, if the filter expires
  /// @throws format_error, storage_error
  file_writer(disk& on, const std::filesystem::path& filter_directory, lock_file exclusive,
              sync_policy policy, time_source clock);

  /// Closes the filter properly: everything is synced, under every policy.
  ~file_writer() override;

  /// Under sync_policy::always, what the batch added is on the disk on return. If the sync fails, the keys
  /// keep their verdicts, and the failure says that a power loss may revert them.
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result add_after(std::span<const partition_batch> batches,
                         const std::function<bool()>& effect) override;
  /// Under sync_policy::always, what was merged is on the disk on return.
  void merge(const sibling_source& siblings) override;
  void sync() override;
  /// Under sync_policy::always, the record of a claim is on the disk before a key is added.
  batch_result claim(job_memory& job, const lane_progress& from,
                     std::span<const claim_batch> batches) override;

 protected:
  std::shared_ptr<job_memory> make_job(std::string_view name, std::string_view description) override;
  void forget_job(std::string_view name) override;
  void keep_expiry(std::optional<event_time> when) override;

 private:
  file_writer(disk& on, std::filesystem::path filter_directory, writer_files files, sync_policy policy,
              time_source clock);
  /// @return whether there was room for all of them
  bool add_again(std::span<const job_log::content::key> keys);
  [[nodiscard]] batch_result synced(batch_result judged);
  void sync_every_second();

  disk& disk_;
  const std::filesystem::path directory_;
  const sync_policy policy_;
  std::mutex closing_lock_;
  std::condition_variable closing_changed_;
  bool closing_ = false;
  std::thread syncer_;  // only under sync_policy::interval
};

/// A filter in files, opened for reading, besides a writer in this or another process.
///
/// Checks once per batch whether the manifest was replaced, and loads the new one. A check sees every key
/// that the writer acknowledged before the check began. Counts are those in the files, which lag by at most a
/// batch.
class file_reader final : public stored_filter {
 public:
  /// @throws format_error  also: there is no manifest    @throws storage_error
  file_reader(disk& on, std::filesystem::path filter_directory, time_source clock);
  ~file_reader() override;

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  /// @return always a failure: this filter was opened for reading
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  /// Read-only: it claims and settles nothing.
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;
  void sync() override {}  // a reader has no unsynced data

 private:
  class view;  // the segments of one manifest

  [[nodiscard]] std::shared_ptr<const view> newest() const;
  [[nodiscard]] std::shared_ptr<const view> load(const view* before) const;

  disk& disk_;
  const std::filesystem::path directory_;
  const time_source clock_;
  mutable std::mutex lock_;
  mutable std::shared_ptr<const view> view_;
  mutable image::filter_id id_;
  spec spec_;
};

}  // namespace everseen
