#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/embedded/embedded_ledger.hpp"
#include "everseen/store/job_log/job_log.hpp"

namespace everseen {

/// The subdirectory of a filter for its jobs: one file per job, doc/format.md, "Journal of a job". The
/// manifest lists them.
inline constexpr const char* jobs_name = "jobs";
[[nodiscard]] std::filesystem::path job_path(const std::filesystem::path& filter_directory,
                                             std::string_view job);

/// A job of a filter in files: its memory, and the journal from which it is restored.
///
/// A step is written before its keys are added: first the record, then, elsewhere in the file, the new length
/// of the journal. After a crash the journal either has the record or not, and the keys are added again from
/// it. A journal shorter than its acknowledged length is damaged. A journal of four times its compacted size,
/// and at least 1 MiB, is compacted atomically at the next settlement. After a failed sync, nothing more is
/// written until the filter is reopened.
class file_job final : public job_memory {
 public:
  /// Creates a journal.    @throws storage_error
  static std::shared_ptr<file_job> create(disk& on, const std::filesystem::path& filter_directory,
                                          const image::filter_id& filter, std::string_view name,
                                          std::string_view description, sync_policy policy);

  /// @return whether there was room for all of them
  using add_keys = std::function<bool(std::span<const job_log::content::key>)>;
  /// Reads an existing journal.
  /// @param add  receives keys that may not have been added, before the journal drops them
  /// @throws format_error  it is damaged or missing    @throws storage_error
  static std::shared_ptr<file_job> open(disk& on, const std::filesystem::path& filter_directory,
                                        std::string_view name, sync_policy policy,
                                        const job_log::circumstances& current, const add_keys& add);

  void note_step(const step& s) override;
  void note_checkpoints(std::span<const checkpoint> marks) override;
  void remove_stored() override;
  void sync() override;
  [[nodiscard]] std::string doubt() const override;
  [[nodiscard]] bool has_counters() const noexcept override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> stored_bytes() const override { return lengths_.acknowledged; }

  /// The content of a journal, also while it is being written.    @throws format_error, storage_error
  [[nodiscard]] static job_log::content read(const std::filesystem::path& filter_directory,
                                             std::string_view name, const job_log::circumstances& current);

 private:
  file_job(disk& on, std::filesystem::path path, job_log::head h, sync_policy policy);

  void append(const std::string& body, char kind);
  void write_anew();
  void write_at(std::size_t place, std::string_view bytes) const;
  void put_lengths(const job_log::lengths& l);
  void check_synced(int code);
  void check_usable() const;

  disk& disk_;
  const std::filesystem::path path_;
  const sync_policy policy_;
  job_log::head head_;
  job_log::writer writer_{};
  std::shared_ptr<const descriptor> file_{};  // shared with a thread that syncs it
  job_log::lengths lengths_{};                // as stored in its head
  std::size_t compact_at_ = 0;                // size at which it is compacted
  bool lacked_room_ = false;                  // for keys that a crashed writer had judged
  std::string failure_{};                     // why nothing can be written any more
};

/// Removes the journal of a job that is in no manifest.    @throws storage_error
void remove_journal(disk& on, const std::filesystem::path& filter_directory, std::string_view name);

}  // namespace everseen
