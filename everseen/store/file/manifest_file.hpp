#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "everseen/core/format/image.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// A manifest and the file that it was read from.
///
/// The file stays open. Meanwhile no newer manifest can have its inode number, so comparing inode numbers is
/// a reliable and cheap test whether the manifest was replaced.
class read_manifest {
 public:
  /// @return nothing if the directory has none
  /// @throws format_error, storage_error
  static std::optional<read_manifest> from(const std::filesystem::path& filter_directory);

  [[nodiscard]] const image::manifest& content() const noexcept { return content_; }

  /// Whether the directory still has this manifest. Cost: one stat(2).
  [[nodiscard]] bool is_current() const noexcept;

 private:
  read_manifest(std::filesystem::path path, descriptor file);

  std::filesystem::path path_;
  descriptor file_;
  image::manifest content_;
};

/// Of a new filter, with a random id and no segments.
[[nodiscard]] image::manifest new_manifest(const spec& s);

/// How far a new manifest has progressed to the disk.
enum class manifest_state : std::uint8_t {
  unchanged,  ///< the old one is certainly in place
  replaced,   ///< the new one is certainly in place
  uncertain,  ///< the new one is visible, but a power loss may restore the old one
};

/// Replaces a directory's manifest atomically, even with respect to power loss.
///
/// The new manifest is written to another name, synced, and renamed over the old one; then the directory is
/// synced.
/// @param reached  kept up to date, even if this throws
/// @throws storage_error
void replace_manifest(disk& on, const std::filesystem::path& filter_directory, const image::manifest& m,
                      manifest_state& reached);

/// Names in a filter's directory.
inline constexpr const char* manifest_name = "manifest";
inline constexpr const char* new_manifest_name = "manifest.new";
inline constexpr const char* lock_name = "lock";
inline constexpr const char* link_name = "link";
inline constexpr const char* new_link_name = "link.new";
inline constexpr const char* end_name = "end";
inline constexpr const char* new_end_name = "end.new";
inline constexpr const char* replaced_name = "replaced";
inline constexpr const char* new_replaced_name = "replaced.new";
inline constexpr const char* segments_name = "segments";

/// Whether a name in a segments directory has the form of everseen's: three numbers separated by dots.
[[nodiscard]] bool is_segment_name(std::string_view name) noexcept;

// The expiry time of a filter in files: a record in its directory, which only its writer changes. Every
// filter has one, so a missing record is damage.

/// @return nothing: never, or there is no such filter    @throws format_error, storage_error
/// Cost: an open(2) and a read(2).
[[nodiscard]] std::optional<event_time> read_expiry(const std::filesystem::path& filter_directory);

/// Whether it expired by this time. A filter with a damaged record has not expired; opening it reports the
/// damage.
/// @throws storage_error
[[nodiscard]] bool has_expired(const std::filesystem::path& filter_directory, event_time current_time);

/// @param when  nothing: never. The caller syncs the directory.    @throws storage_error
void write_expiry(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when);

}  // namespace everseen
