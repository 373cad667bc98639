#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen {

/// A file mapped into memory. Stores reach the page cache immediately, so they survive a crash of the
/// process; sync() writes them to the disk. No descriptor stays open, since a filter may have more segments
/// than a process may have open files.
class mapped_file {
 public:
  /// Creates a file that starts with `head` and is otherwise zero. It is complete on the disk, except for its
  /// name: sync the directory. Leaves no file behind on failure.
  /// @throws storage_error
  static mapped_file create(disk& on, const std::filesystem::path& path, std::span<const std::byte> head,
                            std::uint64_t bytes);

  /// Opens an existing file; nothing if there is none.
  /// @throws storage_error
  static std::optional<mapped_file> open(disk& on, const std::filesystem::path& path, access mode);

  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_, size_}; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// @throws storage_error  the disk failed
  void sync() const;

 private:
  mapped_file(disk& on, std::filesystem::path path, int file, std::size_t size, access mode);

  disk* disk_;
  std::filesystem::path path_;
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// One segment in its file: a page that starts with the segment header, then the bits.
///
/// Threads: as `segments`; keys() and the dirty flag may be used concurrently with anything.
class segment_file {
 public:
  static constexpr std::size_t page_bytes = 4096;  // bits start on their own page

  /// Creates a segment, complete on the disk except for its name in the directory.
  /// @throws storage_error  no space, no permission, …; no file is left behind
  static std::shared_ptr<segment_file> create(disk& on, const std::filesystem::path& directory,
                                              const image::segment_header& header);

  /// Opens a segment that a manifest names.
  /// @throws format_error  missing, of another length, damaged, or not the segment in the manifest
  /// @throws storage_error
  static std::shared_ptr<segment_file> open(disk& on, const std::filesystem::path& directory,
                                            const image::filter_id& filter,
                                            const image::manifest::entry& entry, access mode);

  segment_file(mapped_file file, const image::segment_header& header) noexcept;

  [[nodiscard]] const segment_id& id() const noexcept { return id_; }
  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
  [[nodiscard]] std::byte* bits() const noexcept { return file_.bytes().data() + page_bytes; }

  /// The count in the file, which another process may be incrementing.
  /// @throws format_error  it is damaged
  [[nodiscard]] std::uint64_t keys() const;

  /// Replaces the count with one store, after the bits that it counts. If the process crashes, the file has
  /// this count or the previous one.
  void set_keys(std::uint64_t keys) noexcept;

  /// Raises the stored count to an estimate from the set bits if it lags behind them. Reads the whole
  /// segment.
  void raise_keys_to_bits();

  /// Marks the segment as not fully synced. @return whether it was clean before
  bool mark_dirty() noexcept { return !dirty_.exchange(true); }
  /// Syncs everything marked so far. @throws storage_error
  void sync();

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> key_count_word() const noexcept;

  mapped_file file_;
  segment_id id_;
  geometry shape_;
  std::atomic<bool> dirty_ = false;
};

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

  /// A writer calls this before anything else. Removes incomplete work of an earlier writer, and marks the
  /// filter as being written. After a crash, recovers counts that may lag; the next sync() then includes
  /// every segment.
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
  /// Files of segments that the manifest does not name.
  [[nodiscard]] std::vector<std::filesystem::path> orphans() const;
  void recover_segments();
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
