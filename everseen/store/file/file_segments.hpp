#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/file/segment_file.hpp"

namespace everseen {

/// The segments of one filter in its directory: doc/format.md, "Directory of a file store".
///
/// Invariants, at every moment and after a power loss at any moment:
/// 1. Every segment in the manifest on the disk exists, complete, with an intact header.
/// 2. A segment in use is in the manifest on the disk.
/// 3. A key count never exceeds what its bits hold, unless a power loss took counted bits.
///
/// When the disk fails so that its content is uncertain (a failed fsync may have discarded the data), nothing
/// more is written: every later change is refused until the filter is reopened.
///
/// Threads: at, create, drop_before and note_keys as for `segments`, with different partitions in parallel;
/// sync at any time.
class file_segments : public segments {
 public:
  /// Maps the segments in the manifest.
  /// @param before  an older view of the same directory, whose mappings are reused; may be null
  /// @throws format_error, storage_error
  file_segments(disk& on, std::filesystem::path filter_directory, const image::manifest& m, access mode,
                const file_segments* before = nullptr);

  [[nodiscard]] const spec& get_spec() const noexcept { return spec_; }
  [[nodiscard]] const image::filter_id& id() const noexcept { return id_; }
  [[nodiscard]] std::vector<partition_state> states() const;
  /// Key count of a segment, as its file has it now.
  [[nodiscard]] std::uint64_t keys(const segment_id& id) const;

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override;

  [[nodiscard]] std::vector<std::string> jobs() const;
  /// Adds a job to the manifest, or removes it.    @throws storage_error
  void name_job(std::string_view name);
  void forget_job(std::string_view name);
  /// Whether the previous writer closed the filter properly.
  [[nodiscard]] bool was_closed_in_order() const noexcept { return was_clean_; }

  /// A writer calls this before anything else. Removes incomplete work of an earlier writer, recovers counts
  /// that may lag, and marks the filter as being written.
  void begin_writing();
  /// Syncs everything and marks the filter as closed properly.
  void end_writing();

  /// Syncs everything noted before the call. Concurrent callers share one sync.
  /// @throws storage_error
  void sync();

  /// @throws storage_error  the disk failed earlier; includes the reason
  void check_usable() const;

 private:
  using partition_files = std::vector<std::shared_ptr<segment_file>>;

  /// Index of a segment in its partition's list, or where to insert it.
  [[nodiscard]] std::size_t place_of(const segment_id& id) const noexcept;
  [[nodiscard]] std::shared_ptr<segment_file> find(const segment_id& id) const noexcept;  // null: not found
  [[nodiscard]] segment_file& get(const segment_id& id) const noexcept;
  [[nodiscard]] std::filesystem::path segments_directory() const { return directory_ / segments_name; }
  void publish(image::manifest next);
  void remove_orphans() const;
  void recover_key_counts();
  void fail(const std::string& why);

  disk& disk_;
  const std::filesystem::path directory_;
  const image::filter_id id_;
  const spec spec_;
  const bool was_clean_;
  std::vector<partition_files> partitions_;  // each ascends by id, guarded by its partition's lock

  mutable std::mutex manifest_lock_;
  image::manifest manifest_;
  manifest_state reached_ = manifest_state::replaced;

  std::mutex dirty_lock_;
  std::vector<std::shared_ptr<segment_file>> dirty_;  // has room for all, so note_keys need not allocate

  std::mutex sync_lock_;
  std::vector<std::shared_ptr<segment_file>> syncing_;

  mutable std::mutex failure_lock_;
  std::string failure_;
};

}  // namespace everseen
