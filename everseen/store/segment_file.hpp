#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "everseen/core/image.hpp"
#include "everseen/store/mapped_file.hpp"

namespace everseen {

/// One segment in its file: a page that begins with the segment header, then the bits.
///
/// Threads: as `segments`; keys() and what concerns `dirty` may run beside anything.
class segment_file {
 public:
  static constexpr std::size_t page_bytes =
      4096;  // the bits begin on a page, so that they are aligned and apart

  /// A new one, complete on the disk but for its name in the directory.
  /// @throws storage_error  no space, no permission, …; no file is left behind
  static std::shared_ptr<segment_file> create(disk& on, const std::filesystem::path& directory,
                                              const image::segment_header& header);

  /// The one that a manifest names.
  /// @throws format_error  missing, of another length, damaged, or not the one that the manifest means
  /// @throws storage_error
  static std::shared_ptr<segment_file> open(disk& on, const std::filesystem::path& directory,
                                            const image::filter_id& filter,
                                            const image::manifest::entry& entry, access how);

  segment_file(mapped_file file, const image::segment_header& header) noexcept;

  [[nodiscard]] const segment_id& id() const noexcept { return id_; }
  [[nodiscard]] const geometry& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
  [[nodiscard]] std::byte* bits() const noexcept { return file_.bytes().data() + page_bytes; }

  /// The count as it stands in the file, where another process may be raising it.
  /// @throws format_error  it is damaged
  [[nodiscard]] std::uint64_t keys() const;

  /// Replaces the count by one store, after the bits that it counts: whenever the process ends, the file
  /// holds this count or the one before.
  void set_keys(std::uint64_t keys) noexcept;

  /// Takes the estimate from the set bits where the stored count lags behind it. Reads the whole segment.
  void raise_keys_to_bits();

  /// Remembers that the disk does not have everything. @return whether that is news
  bool mark_dirty() noexcept { return !dirty_.exchange(true); }
  /// Brings all marked so far to the disk. @throws storage_error
  void sync();

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> key_count_word() const noexcept;

  mapped_file file_;
  segment_id id_;
  geometry shape_;
  std::atomic<bool> dirty_ = false;
};

}  // namespace everseen
