#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/core/segments.hpp"
#include "everseen/store/manifest_file.hpp"
#include "everseen/store/segment_file.hpp"

namespace everseen {

/// The segments of one filter in its directory: doc/format.md, "Directory of a file store".
///
/// Invariants, at every moment and after a power loss at any moment:
/// 1. Every segment that the manifest on the disk names is there, whole, with an intact header.
/// 2. A segment in use is named by the manifest on the disk.
/// 3. A key count is at most what its bits hold, unless a power loss took bits that it counted.
///
/// When the disk fails in a way that leaves open what it holds (a refused fsync may have thrown the data
/// away), nothing more is written: every later change is refused until the filter is opened again.
///
/// Threads: at, create, drop_before and note_keys as `segments` says, different partitions beside each other;
/// sync at any time.
class file_segments : public segments {
 public:
  /// Maps what the manifest names.
  /// @param before  an older view of the same directory, whose mappings are taken over; may be null
  /// @throws format_error, storage_error
  file_segments(disk& on, std::filesystem::path filter_directory, const image::manifest& m, access how,
                const file_segments* before = nullptr);

  [[nodiscard]] const spec& get_spec() const noexcept { return spec_; }
  [[nodiscard]] const image::filter_id& id() const noexcept { return id_; }
  [[nodiscard]] std::vector<partition_state> states() const;
  /// Keys in a segment as its file says now.
  [[nodiscard]] std::uint64_t keys(const segment_id& id) const;

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override;

  [[nodiscard]] std::vector<std::string> jobs() const;
  /// Takes a job into the manifest, or out of it.    @throws storage_error
  void name_job(std::string_view name);
  void forget_job(std::string_view name);
  /// Whether the writer before closed in order.
  [[nodiscard]] bool was_closed_in_order() const noexcept { return was_clean_; }

  /// To be called by a writer before it uses the rest: removes what an earlier writer left half done,
  /// recovers counts that may lag, and marks the filter as being written.
  void begin_writing();
  /// Brings everything to the disk and marks the filter as closed in order.
  void end_writing();

  /// Brings to the disk what was noted before. Many callers share the work of one.
  /// @throws storage_error
  void sync();

  /// @throws storage_error  the disk failed earlier; says how
  void check_usable() const;

 private:
  using partition_files = std::vector<std::shared_ptr<segment_file>>;

  /// Where a segment is in its partition's list, or would be.
  [[nodiscard]] std::size_t place_of(const segment_id& id) const noexcept;
  [[nodiscard]] std::shared_ptr<segment_file> find(const segment_id& id) const noexcept;  // null: not there
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
  std::vector<partition_files> partitions_;  // each ascends by id and is guarded by its partition's lock

  mutable std::mutex manifest_lock_;
  image::manifest manifest_;
  manifest_state reached_ = manifest_state::replaced;

  std::mutex dirty_lock_;
  std::vector<std::shared_ptr<segment_file>> dirty_;  // has room for all, so that note_keys need not allocate

  std::mutex sync_lock_;
  std::vector<std::shared_ptr<segment_file>> syncing_;

  mutable std::mutex failure_lock_;
  std::string failure_;
};

}  // namespace everseen
