#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "everseen/core/image.hpp"
#include "everseen/store/descriptor.hpp"
#include "everseen/store/disk.hpp"

namespace everseen {

/// A manifest as it was read, and the file it came from.
///
/// The file stays open: as long as it is, no newer manifest can have its inode number, so comparing that
/// number is a certain and cheap way to see whether the manifest was replaced.
class read_manifest {
 public:
  /// @return nothing if the directory has none
  /// @throws format_error, storage_error
  static std::optional<read_manifest> from(const std::filesystem::path& filter_directory);

  [[nodiscard]] const image::manifest& content() const noexcept { return content_; }

  /// Whether it is still the one in the directory. Cost: one stat(2).
  [[nodiscard]] bool is_current() const noexcept;

 private:
  read_manifest(std::filesystem::path path, descriptor file);

  std::filesystem::path path_;
  descriptor file_;
  image::manifest content_;
};

/// How far a manifest came on its way to the disk.
enum class manifest_state : std::uint8_t {
  unchanged,  ///< the old one is in place, for certain
  replaced,   ///< the new one is, for certain
  uncertain,  ///< the new one is visible, but a power loss may bring the old one back
};

/// Replaces a directory's manifest in one step that a power loss does not divide.
///
/// The new one is written beside, synced, renamed over the old one, and the directory is synced.
/// @param reached  kept up to date, also when this throws
/// @throws storage_error
void replace_manifest(disk& on, const std::filesystem::path& filter_directory, const image::manifest& m,
                      manifest_state& reached);

/// Names inside a filter's directory.
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

/// Whether a name in a segments directory is one that everseen gives: three numbers with dots between.
[[nodiscard]] bool is_segment_name(std::string_view name) noexcept;

}  // namespace everseen
