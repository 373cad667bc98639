#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/format/file_records.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/link/linked_filter.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// The links of a file store: which filter asks which other filter first. The link is a record in the
/// directory of the newer filter. Every filter has one, so a missing record is damage.
///
/// There is no second record that could contradict it. Only link() and drop need to know which filter asks a
/// given one; they search all directories while holding the lock of the store. Links can change while a
/// filter is open. Threads and processes: any number.
class file_links {
 public:
  file_links(disk& on, std::filesystem::path store_directory, time_source clock);

  /// @pre the writer's lock of the newer filter is held, so that no job of it begins    @throws  as
  /// store::link
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) const;
  /// Works even if the record is damaged.    @throws  as store::unlink
  void unlink(std::string_view newer) const;

  /// The filter that this one asks first now; nothing if there is none, or if this filter does not exist.
  /// @throws format_error  the record is damaged or missing, or names this very filter
  /// @throws storage_error
  [[nodiscard]] std::optional<predecessor> of(std::string_view name) const;

  /// Those that have not ended, of filters that have not expired. A filter with a damaged record asks none;
  /// one whose name is lost has the name of its directory. Cost: one open(2) per filter of the store.
  [[nodiscard]] filter_links all() const;

  /// @throws parameter_error  another filter asks the one in this directory first, so it cannot be dropped
  void require_unasked(const std::filesystem::path& directory) const;

  /// The spec of a filter whose link may be changed.
  /// @throws no_filter, storage_error    @throws format_error  it or its record is damaged
  [[nodiscard]] spec spec_of(std::string_view name) const;

 private:
  [[nodiscard]] std::filesystem::path directory_of(std::string_view name) const;
  [[nodiscard]] std::optional<predecessor> asked_in(const std::filesystem::path& directory) const;
  [[nodiscard]] bool asks_none(const std::filesystem::path& directory) const;

  disk& disk_;
  const std::filesystem::path store_;
  const time_source clock_;
};

/// Writes a record without a link into the directory of a new filter. The caller syncs the directory.
/// @throws storage_error
void write_no_link(disk& on, const std::filesystem::path& filter_directory);

/// Copies the link of a filter to the filter that will replace it.
/// @pre the lock of the store is held    @throws storage_error
void carry_link(disk& on, const std::filesystem::path& from_directory,
                const std::filesystem::path& to_directory);

}  // namespace everseen
