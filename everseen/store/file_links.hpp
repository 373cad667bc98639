#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/predecessor.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/store/time_source.hpp"

namespace everseen {

struct link_facts;

/// Which filter of a file store asks which other one first: a record in the directory of the newer one. Every
/// filter has one, so that one that is missing is damage.
///
/// There is no second record that could contradict it: who is asked by whom is found by looking into all
/// directories, which only link() and a drop do. Both hold the lock of the store meanwhile. Whether a filter
/// is open makes no difference. Threads and processes: any number.
class file_links {
 public:
  file_links(disk& on, std::filesystem::path store_directory, time_source now);

  /// @throws  as store::link
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) const;
  /// Also where the record is damaged.    @throws  as store::unlink
  void unlink(std::string_view newer) const;

  /// What a filter asks first now; nothing also where there is no such filter.
  /// @throws format_error  the record is damaged or missing, or names this very filter
  /// @throws storage_error
  [[nodiscard]] std::optional<predecessor> of(std::string_view name) const;

  /// Which filter asks this one first now; empty: none. One whose record is damaged can ask nobody.
  /// Cost: one open(2) a filter of the store.
  [[nodiscard]] std::string asked_by(std::string_view name) const;

  /// What the rules ask about a filter.    @throws no_filter, format_error, storage_error
  [[nodiscard]] link_facts facts_of(std::string_view name) const;

 private:
  [[nodiscard]] std::filesystem::path directory_of(std::string_view name) const;

  disk& disk_;
  const std::filesystem::path store_;
  const time_source now_;
};

/// Writes into the directory of a new filter that it asks none first; the directory is for the caller to
/// sync.
/// @throws storage_error
void write_no_link(disk& on, const std::filesystem::path& filter_directory);

/// Gives a filter that is to take the place of another one the link of that one.
/// @pre the lock of the store is held    @throws storage_error
void carry_link(disk& on, const std::filesystem::path& from_directory,
                const std::filesystem::path& to_directory);

}  // namespace everseen
