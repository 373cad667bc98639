#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "everseen/core/format/image.hpp"
#include "everseen/store/disk/disk.hpp"
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

}  // namespace everseen
